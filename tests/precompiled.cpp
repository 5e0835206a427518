// CMake compiles a target's precompiled header with one of its files: this one.
