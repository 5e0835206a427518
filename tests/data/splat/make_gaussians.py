# Makes the Gaussians of this folder; see README.md for the programs that turn them into other formats.
import sys
import numpy as np
from plyfile import PlyData, PlyElement

def cloud(seed, count, degree):
    r = np.random.default_rng(seed)
    rest = 3 * ((degree + 1) ** 2 - 1)
    fields = ["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"]
    fields += [f"f_rest_{i}" for i in range(rest)]
    fields += ["opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]
    a = np.zeros(count, dtype=[(f, "f4") for f in fields])
    for f in "xyz":
        a[f] = r.normal(0, 3, count)
    for i in range(3):
        a[f"f_dc_{i}"] = r.normal(0, 1, count)
        a[f"scale_{i}"] = r.uniform(-7, 0, count)
    for i in range(rest):
        a[f"f_rest_{i}"] = r.uniform(-0.8, 0.8, count)
    a["opacity"] = r.normal(0, 3, count)
    for i in range(4):
        a[f"rot_{i}"] = r.normal(0, 1, count)
    return a

def save(a, path, **how):
    PlyData([PlyElement.describe(a, "vertex")], **how).write(path)

if __name__ == "__main__":
    out = sys.argv[1]
    save(cloud(1, 12, 3), f"{out}/degree3.ply")
    save(cloud(1, 12, 3), f"{out}/degree3_ascii.ply", text=True)
    save(cloud(1, 12, 3), f"{out}/degree3_big_endian.ply", byte_order=">")
    save(cloud(2, 260, 1), f"{out}/degree1.ply")
    save(cloud(3, 6, 0), f"{out}/degree0.ply")
    save(cloud(4, 6, 4), f"{out}/degree4.ply")
