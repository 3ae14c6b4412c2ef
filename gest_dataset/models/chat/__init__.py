"""What models say in words: prompts in, raw answers out, each asked once and kept.

kinds    what each probe asks and reads              questions         what a run asks
speaker  how answers are drawn, who gives them       endpoint, local   a server, a model that is loaded here
collect  all answers, kept on the way                cost              what a run will take, from a sample
parsing  the parser of what is written               answered          answers as they are read, the result
ask      all of it, in a run
"""
