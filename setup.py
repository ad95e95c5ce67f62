"""Which folder is which package; everything else about the build is in pyproject.toml.

The folders keep their short names and install as one package, so that nothing of ours meets a `core` or an `app` of
somebody else's.
"""

from setuptools import find_packages, setup

FOLDERS = {
    "traitbench": "core",
    "traitbench.app": "app",
    "traitbench.pages": "pages",
    "traitbench.sample_data": "sample_data",
}

setup(
    package_dir=FOLDERS,
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{below}" for below in find_packages(folder)))
    ],
)
