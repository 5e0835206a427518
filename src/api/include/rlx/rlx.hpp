// All of the users' layer: tensors, compiled functions, derivatives, batches, control flow. Families have their own
// headers, such as rlx/linalg/tensor.hpp.
#pragma once
#include <rlx/control_flow.hpp>
#include <rlx/jit.hpp>
#include <rlx/scan.hpp>
#include <rlx/tensor.hpp>
#include <rlx/tensor_index.hpp>
#include <rlx/tensor_signal.hpp>
#include <rlx/transforms.hpp>
