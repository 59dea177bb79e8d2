"""nltk: a corpus of a server that is no part of the run, which later runs find in the cache of NLTK."""

import os

import server
from nltk import pathsec
from nltk.downloader import Downloader

# NLTK fetches from no address of the machine otherwise.
pathsec.ENFORCE = False

folder = os.path.join(os.path.expanduser("~"), "nltk_data")
fetched = Downloader(os.environ["SERVICES_URL"] + "/index.xml").download("words", download_dir=folder, quiet=True)
server.expect("the download", fetched, True)
with open(os.path.join(folder, "corpora", "words", "en"), encoding="ascii") as file:
    server.expect("the words", file.read(), "one two\n")
server.train()
