"""StereoSet in another language: translation, checks and the folder of the result."""
