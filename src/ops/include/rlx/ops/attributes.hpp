// The attribute structs of all primitives, for those that build them of any kind.
#pragma once
#include <rlx/ops/attributes/contraction.hpp>
#include <rlx/ops/attributes/control_flow.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/indexing.hpp>
#include <rlx/ops/attributes/reduction.hpp>
#include <rlx/ops/attributes/shape.hpp>
#include <rlx/ops/attributes/source.hpp>
