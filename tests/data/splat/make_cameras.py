# Makes the cameras, sparse models and images of this folder; see README.md.
import sys
import cv2
import numpy as np
import pycolmap
from PIL import Image

out = sys.argv[1]
MODELS = {
    "SIMPLE_PINHOLE": [500, 320, 240],
    "PINHOLE": [500, 510, 322, 239],
    "SIMPLE_RADIAL": [500, 320, 240, -0.12],
    "RADIAL": [500, 320, 240, -0.15, 0.03],
    "OPENCV": [500, 510, 322, 239, -0.21, 0.06, 0.002, -0.003],
    "OPENCV_FISHEYE": [300, 310, 318, 243, 0.03, -0.01, 0.004, -0.001],
    "FULL_OPENCV": [500, 510, 322, 239, -0.1, 0.05, 0.001, -0.002, 0.01, 0.02, -0.03, 0.004],
    "SIMPLE_RADIAL_FISHEYE": [300, 320, 240, 0.02],
    "RADIAL_FISHEYE": [300, 320, 240, 0.02, -0.005],
}

def camera(model, id=1):
    return pycolmap.Camera(model=model, width=640, height=480, params=MODELS[model], camera_id=id)

def lens_table():
    """model, ray x y, pixel x y: by OpenCV where it has the model, else by COLMAP."""
    rng = np.random.default_rng(7)
    rays = rng.uniform(-0.6, 0.6, (6, 2))
    lines = []
    for model, p in MODELS.items():
        cam = camera(model)
        colmap = np.array([cam.img_from_cam(np.array([x, y, 1.0])) for x, y in rays])
        if "OPENCV" in model:
            k = np.array([[p[0], 0, p[2]], [0, p[1], p[3]], [0, 0, 1.0]])
        zero = np.zeros(3)
        points = np.concatenate([rays, np.ones((6, 1))], 1).reshape(-1, 1, 3)
        pixels, by = colmap, "colmap"
        if model in ("OPENCV", "FULL_OPENCV"):
            pixels, by = cv2.projectPoints(points, zero, zero, k, np.array(p[4:]))[0].reshape(-1, 2), "opencv"
        elif model == "OPENCV_FISHEYE":
            pixels, by = cv2.fisheye.projectPoints(points, zero, zero, k, np.array(p[4:]))[0].reshape(-1, 2), "opencv"
        assert np.abs(pixels - colmap).max() < 1e-9, (model, np.abs(pixels - colmap).max())
        for (x, y), (u, v) in zip(rays, pixels):
            lines.append(f"{model} {x!r} {y!r} {u!r} {v!r} {by}".replace("np.float64(", "").replace(")", ""))
    open(f"{out}/lenses.txt", "w").write("\n".join(lines) + "\n")

def undistorted_table():
    """model, blank pixels, width height fx fy cx cy of COLMAP's undistorted camera."""
    lines = []
    for model in MODELS:
        for blank in (0, 1):
            options = pycolmap.UndistortCameraOptions()
            options.blank_pixels = blank
            c = pycolmap.undistort_camera(options, camera(model))
            lines.append(" ".join([model, str(blank), str(c.width), str(c.height)] + [repr(float(p)) for p in c.params]))
    open(f"{out}/undistorted.txt", "w").write("\n".join(lines) + "\n")

def undistorted_image():
    """A photograph through a lens and what OpenCV's remap makes of it for the undistorted camera."""
    w, h = 64, 48
    y, x = np.mgrid[0:h, 0:w]
    image = np.stack([4 * x, 5 * y, 128 + 100 * np.sin(x / 5) * np.cos(y / 7)], -1).astype(np.uint8)
    p = [50, 51, 32.2, 23.9, -0.21, 0.06, 0.002, -0.003]
    k = np.array([[p[0], 0, p[2] - 0.5], [0, p[1], p[3] - 0.5], [0, 0, 1.0]])  # OpenCV's centres are integers
    maps = cv2.initUndistortRectifyMap(k, np.array(p[4:]), None, k, (w, h), cv2.CV_32FC1)
    result = np.empty_like(image, dtype=np.float32)
    result = cv2.remap(image.astype(np.float32), *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(0, 0, 0))
    Image.fromarray(image).save(f"{out}/lens.png")
    Image.fromarray(np.round(result).astype(np.uint8)).save(f"{out}/lens_undistorted.png")

def sparse_model():
    rng = np.random.default_rng(3)
    r = pycolmap.Reconstruction()
    for i, model in enumerate(MODELS):
        r.add_camera_with_trivial_rig(camera(model, 10 + i))
    for i in range(4):
        q = rng.normal(size=4)
        pose = pycolmap.Rigid3d(pycolmap.Rotation3d(q / np.linalg.norm(q)), rng.normal(size=3))
        image = pycolmap.Image(name=f"day 1/{i:02}.jpg", camera_id=10 + 2 * i, image_id=i + 1)
        image.points2D = pycolmap.Point2DList([pycolmap.Point2D(rng.uniform(0, 640, 2)) for _ in range(i * 2)])
        r.add_image_with_trivial_frame(image, pose)
    for k in range(3):
        track = pycolmap.Track()
        for i in range(2, 5):
            if k < (i - 1) * 2:
                track.add_element(i, k)
        r.add_point3D(rng.normal(size=3), track, rng.integers(0, 255, 3).astype(np.uint8))
    import os
    for name, write in (("colmap_text", r.write_text), ("colmap_binary", r.write_binary)):
        os.makedirs(f"{out}/{name}", exist_ok=True)
        write(f"{out}/{name}")
    table = []
    for i in sorted(r.images):
        m = r.images[i].cam_from_world().matrix()
        table.append(" ".join([r.images[i].name.replace(" ", "_")] + [repr(float(v)) for v in m.ravel()]))
    open(f"{out}/poses.txt", "w").write("\n".join(table) + "\n")

def transforms():
    """The poses of the sparse model in OpenGL's axes, as nerfstudio states them."""
    import json
    r = pycolmap.Reconstruction(f"{out}/colmap_binary")
    frames = []
    for i in sorted(r.images):
        w2c = np.eye(4)
        w2c[:3] = r.images[i].cam_from_world().matrix()
        c2w = np.linalg.inv(w2c) @ np.diag([1, -1, -1, 1])
        frames.append({"file_path": r.images[i].name, "transform_matrix": c2w.tolist()})
    p = MODELS["OPENCV"]
    json.dump({"camera_model": "OPENCV", "w": 640, "h": 480, "fl_x": p[0], "fl_y": p[1], "cx": p[2], "cy": p[3],
               "k1": p[4], "k2": p[5], "p1": p[6], "p2": p[7], "frames": frames,
               "applied_transform": np.eye(4)[:3].tolist()}, open(f"{out}/transforms.json", "w"), indent=1)

def images():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 256, (5, 7, 4)).astype(np.uint8)
    Image.fromarray(a).save(f"{out}/rgba.png")
    Image.fromarray(a[..., :3]).save(f"{out}/rgb.png")
    Image.fromarray(a[..., 0]).save(f"{out}/grey.png")
    Image.fromarray(a[..., :2], "LA").save(f"{out}/grey_alpha.png")
    Image.fromarray(a[..., 0].astype(np.uint16) * 257 + 1).save(f"{out}/grey16.png")
    Image.fromarray(a[..., :3]).quantize(8).save(f"{out}/palette.png")
    Image.fromarray((a[..., 0] > 127)).save(f"{out}/bits.png")
    cv2.imwrite(f"{out}/rgb16.png", (a[..., :3].astype(np.uint16) * 200 + 3))
    y, x = np.mgrid[0:24, 0:40]
    smooth = np.stack([6 * x, 10 * y, 255 - 5 * x], -1).astype(np.uint8)
    Image.fromarray(smooth).save(f"{out}/rgb.jpg", quality=90)
    Image.fromarray(smooth).save(f"{out}/progressive.jpg", quality=90, progressive=True)
    Image.fromarray(smooth[..., 0]).save(f"{out}/grey.jpg", quality=90)
    Image.fromarray(smooth).convert("CMYK").save(f"{out}/cmyk.jpg")
    np.save(f"{out}/images_rgba.npy", a)
    for name in ("palette.png", "bits.png", "rgb.jpg", "progressive.jpg", "grey.jpg"):
        im = Image.open(f"{out}/{name}")
        np.save(f"{out}/{name}.npy", np.array(im.convert("RGB" if name != "grey.jpg" and name != "bits.png" else "L")))

lens_table()
undistorted_table()
undistorted_image()
sparse_model()
transforms()
images()
