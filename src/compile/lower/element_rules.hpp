// Scalar code of the operators that fuse into kernels, one function each.
#pragma once
#include "compile/lower/elements.hpp"

namespace rlx::compile {

Value elementwise_element(Elements& e, const Node& n, const Coordinates& c);
Value constant_element(Elements& e, const Node& n, const Coordinates& c);
Value dim_size_element(Elements& e, const Node& n, const Coordinates& c);
Value iota_element(Elements& e, const Node& n, const Coordinates& c);
Value broadcast_element(Elements& e, const Node& n, const Coordinates& c);
Value reshape_element(Elements& e, const Node& n, const Coordinates& c);
Value transpose_element(Elements& e, const Node& n, const Coordinates& c);
Value slice_element(Elements& e, const Node& n, const Coordinates& c);
Value dynamic_slice_element(Elements& e, const Node& n, const Coordinates& c);
Value pad_element(Elements& e, const Node& n, const Coordinates& c);
Value concat_element(Elements& e, const Node& n, const Coordinates& c);
Value reverse_element(Elements& e, const Node& n, const Coordinates& c);
Value gather_element(Elements& e, const Node& n, const Coordinates& c);
Value segment_reduce_element(Elements& e, const Node& n, const Coordinates& c);

/// A start index (i64 or narrower scalar) limited so that a window of `size` elements fits into `extent`.
Index window_start(Elements& e, ValueId start, Extent extent, std::int64_t size);

}  // namespace rlx::compile
