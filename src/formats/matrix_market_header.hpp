// Banner and count line of a Matrix Market file.
#pragma once
#include <rlx/formats/matrix_market.hpp>

#include <string_view>

#include "text_scanner.hpp"

namespace rlx::formats {

/// Leaves `in`, a scanner at the start of `bytes`, behind the count line. What the header promises then fits in the
/// rest.
MatrixMarketHeader parse_matrix_market_header(TextScanner& in, std::string_view bytes);

}  // namespace rlx::formats
