// The scene that `rlx splat view` shows: as the page reads it, and as new as its file.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rlx::cli {

/// Little endian. A head of 64 bytes: u32 "RLXV", 1, count n, degree of the harmonics, vectors of four a Gaussian that
/// hold them (s), whether it is antialiased, 0, 0; f32 centre (3) and radius of the ball around it; 16 bytes 0. Then
/// f32 [n, 3, 4]: mean and opacity, the covariance's xx xy xz yy, its yz zz 0 0; and f32 [n, s, 4]: harmonics, channels
/// together, zeros behind. The Gaussians are finite.
std::string view_bytes(const formats::GaussianCloud& cloud);

/// What the page is told.
struct ViewState {
  std::uint64_t version = 0;  ///< Counts up with every new scene; 0: none yet.
  std::shared_ptr<const std::string> bytes{};
  std::int64_t gaussians = 0;
  std::string error{};  ///< Why the file as it is now could not be read; the scene is then that from before.
};

/// A scene file, or a folder in which a training keeps scene.ply.
class LiveScene {
 public:
  /// Throws what the reader throws. A folder may have no scene yet.
  LiveScene(const std::string& path, bool raw_axes);

  const std::string& file() const { return file_; }
  /// Reads the file again if it is another one than the last time. Any thread.
  ViewState look();

 private:
  /// Of the file that was read: it is replaced whole, so that one of them differs.
  struct Stamp {
    std::int64_t seconds = 0, nanoseconds = 0, size = 0;
    std::uint64_t node = 0;
    bool operator==(const Stamp&) const = default;
  };
  std::optional<Stamp> stamp() const;
  void read();

  std::string file_;
  bool raw_axes_;
  std::mutex mutex_;
  std::optional<Stamp> stamp_{};
  ViewState state_{};
};

}  // namespace rlx::cli
