# python -m build --wheel
# docker build --tag gest --build-arg EXTRAS=served,gender .
# docker run --gpus all --volume "$PWD:/work" --volume "$HOME/.cache/huggingface:/cache" gest score MODEL
FROM python:3.12-slim
ARG EXTRAS=gender,served
COPY dist/gest_dataset-*-py3-none-any.whl /tmp/
RUN pip install --no-cache-dir "$(echo /tmp/gest_dataset-*.whl)[$EXTRAS]"
ENV HF_HOME=/cache
WORKDIR /work
ENTRYPOINT ["gest"]
