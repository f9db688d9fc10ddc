"""Everything but the C extension and the list of packages is declared in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    # retrokit.data's folder is the root; the name keeps this file out of it.
    script_name="setup.py",
    packages=[*find_packages(include=["retrokit", "retrokit.*"]), "retrokit.data"],
    cffi_modules=["retrokit/host/build.py:ffibuilder"],
)
