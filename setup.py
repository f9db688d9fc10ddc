"""Everything but the C extension is declared in pyproject.toml."""

from setuptools import setup

# The name keeps this file out of the package whose folder is the root: retrokit.data.
setup(script_name="setup.py", cffi_modules=["retrokit/host/build.py:ffibuilder"])
