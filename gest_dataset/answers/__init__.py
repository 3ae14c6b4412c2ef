"""What models say in words: prompts in, raw answers out, each asked once and kept.

prompt   a question and an answer        endpoint, local   who answers: a server, a model that is loaded here
collect  all answers, kept on the way    cost              what a run will take, from a small sample
"""
