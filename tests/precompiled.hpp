// What most tests read, compiled once (CMakeLists.txt). A file still includes what it uses.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/ops/build.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
