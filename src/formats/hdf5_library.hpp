// What guards calls of HDF5: silence, identifiers that are closed, errors that name the cause. With hdf5_types.cpp and
// hdf5.cpp all that includes hdf5.h.
#pragma once
#include <hdf5.h>
#include <rlx/ir/error.hpp>

#include <cfenv>
#include <string>
#include <utility>

namespace rlx::formats {

/// While one lives, HDF5 prints no errors and what it does to the floating-point environment is forgotten.
class QuietHdf5 {
 public:
  QuietHdf5() {
    std::feholdexcept(&environment_);
    H5open();
    unsigned version2 = 1;
    H5Eauto_is_v2(H5E_DEFAULT, &version2);
    version2_ = version2 != 0;
#ifndef H5_NO_DEPRECATED_SYMBOLS
    if (!version2_) {
      H5Eget_auto1(&print1_, &data_);
      H5Eset_auto1(nullptr, nullptr);
      return;
    }
#endif
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() {
    H5Eclear2(H5E_DEFAULT);
#ifndef H5_NO_DEPRECATED_SYMBOLS
    if (!version2_) H5Eset_auto1(print1_, data_);
#endif
    if (version2_) H5Eset_auto2(H5E_DEFAULT, print_, data_);
    std::fesetenv(&environment_);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  std::fenv_t environment_;
  bool version2_ = true;
  H5E_auto2_t print_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t print1_ = nullptr;
#endif
  void* data_ = nullptr;
};

/// An identifier of HDF5 with what closes it.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  /// Closing writes what is left, so it can fail.
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The innermost message of HDF5's error stack, which is the one that names the cause.
inline std::string hdf5_cause() {
  std::string text;
  const auto keep = [](unsigned, const H5E_error2_t* e, void* to) -> herr_t {
    if (e->desc && *e->desc) *static_cast<std::string*>(to) = e->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &text);
  return text.empty() ? "HDF5 does not say why" : text;
}

[[noreturn]] inline void fail_hdf5(const std::string& path, const std::string& doing) {
  throw FormatError(path, 0, doing + ": " + hdf5_cause());
}

}  // namespace rlx::formats
