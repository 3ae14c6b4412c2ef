"""What models say in words: prompts in, raw answers out, each asked once and kept.

speaker  how answers are drawn, and who gives them    endpoint, local   a server, a model that is loaded here
collect  all answers, kept on the way                 cost              what a run will take, from a sample
kinds    what each probe asks and reads              parsing             the parser of a first person
"""
