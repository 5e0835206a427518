// Any text either parses to a matrix that satisfies its promises, or is a FormatError, or too large for the memory
// there is.
#include <rlx/formats/matrix_market.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

using namespace rlx::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const MatrixMarket m = parse_matrix_market(bytes, "fuzz.mtx");
    const auto* coo = std::get_if<CooMatrix>(&m.matrix);
    // Entries may be few and rows many, which the caller may want; here it would only cost time.
    if (!coo || coo->rows > 1'000'000) return 0;
    const CsrMatrix csr = to_csr(*coo);
    if (csr.entries() > coo->entries() || csr.row_offsets.back() != csr.entries()) __builtin_trap();
    if (m.header.symmetry == MatrixSymmetry::general) return 0;
    // Both triangles are there: the transpose has the same structure.
    for (std::int64_t i = 0; i < csr.rows; ++i)
      for (std::int64_t k = csr.row_offsets[i]; k < csr.row_offsets[i + 1]; ++k) {
        bool found = false;
        for (std::int64_t t = csr.row_offsets[csr.columns[k]]; t < csr.row_offsets[csr.columns[k] + 1]; ++t)
          found |= csr.columns[t] == i;
        if (!found) __builtin_trap();
      }
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
