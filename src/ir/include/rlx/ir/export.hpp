// Symbol visibility of the public interface: everything else in librlx is hidden.
#pragma once

#if defined(RLX_STATIC)
#define RLX_API
#else
#define RLX_API __attribute__((visibility("default")))
#endif
