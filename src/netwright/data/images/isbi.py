"""ISBI 2012: 30 neighbouring slices of a fly's nerve cord under the electron microscope.

Every pixel is either inside a cell or part of a membrane. The slices follow each other in one
volume, and neighbours look alike, so a block of six of them is held out and not a random few: fold
f holds slices 6 f to 6 f + 5. The slices to choose by are those at the far end from that block.

Shapes: (N, 1, 512, 512) images, (N, 512, 512) masks.
Source: Arganda-Carreras et al., "Crowdsourcing the creation of image segmentation algorithms for
connectomics" (2015).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.config import Config, Doc
from netwright.data.dataset import Data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.images.decoding import ImageForm, decode_file
from netwright.data.images.masks import encode_masks, read_mask
from netwright.data.images.pairs import mask_data
from netwright.data.source import Source

NAME = "isbi2012"
SLICES = 30
BLOCK = 6
FORM = ImageForm(mode="L", height=512, width=512)
CLASSES = {0: "membrane", 255: "cell"}  # the value of a pixel in a mask -> its class
PLACE = (
    "https://raw.githubusercontent.com/zhixuhao/unet/b45af4d458437d8281cc218a07fd4380818ece4a"
    "/data/membrane/train"
)


@dataclass(frozen=True, kw_only=True)
class IsbiConfig(Config):
    """Which of the 30 slices are held out."""

    fold: Annotated[
        int,
        Interval(ge=0, lt=SLICES // BLOCK),
        Doc("which block of six neighbouring slices is the test split, 0 to 4"),
    ] = 0
    val_count: Annotated[
        int,
        Interval(ge=0, lt=SLICES - BLOCK),
        Doc("number of validation slices, far from the test slices"),
    ] = 0


def load_isbi(config: IsbiConfig) -> Data:
    """The slices and their masks; they are fetched where they are not on this machine."""
    paths = [fetch(NAME, file) for file in FILES]  # all, before one is read
    images, masks = paths[:SLICES], paths[SLICES:]
    return mask_data(
        NAME,
        torch.stack([decode_file(path, FORM) for path in images]),
        encode_masks([read_mask(path) for path in masks], list(CLASSES)),
        divide_slices(config),
        mode=FORM.mode,
        classes=CLASSES,
    )


def divide_slices(config: IsbiConfig) -> dict[str, Tensor]:
    """The slices of each part."""
    start = BLOCK * config.fold
    slices = torch.arange(SLICES)
    before, test, after = slices[:start], slices[start : start + BLOCK], slices[start + BLOCK :]
    rest = torch.cat((before, after))
    if len(before) <= len(after):  # the end that lies farther from the block comes first
        rest = rest.flip(0)
    val, train = rest[: config.val_count], rest[config.val_count :]
    return {"train": train.sort().values, "val": val.sort().values, "test": test}


# The size and sha256 of the images 0 to 29, then of the masks 0 to 29.
SUMS = """
187651 12c0ed6f42fc09f512abf6b354f217c950e4c8223b57a0315449b62a14556523
188189 2cfc7ee635a6f85d5faf5c82a71d3a37bf5af4784b554964e3e07193e3ee2166
188971 fe60d8d4f93102666a23a18d718b4b59fab8e616987d11c5072f4a87fac7301f
187963 636d16cbb02f99dda4c9fb6db98dfba066142afa981ffdcfaf54453982e8250c
189054 991fb3a8e4abc73da1d6159ca28fa4397f0a8351f30a8ba3669c86414d2ce239
183664 7e9d9fb787664336d6f2cd68b23986f04527e7f8f494410983b4d70c6de1de3b
192916 7c0a87933ffc72f4ff02f5996d9c3f69fe9a0b5277507415743ad8afb5e5d308
181724 19f2c25716107d41008c83ba8a814ae47a090e00dea766dde38dce1f00899270
178028 a8979e4abd1a10af9ca75e614d97875659adbd8ee3a68eba483bf556cfe3023d
189577 730ebf435ab0f6e625d342552ad03736799fd660d0c6af744674c61a46aa082a
189050 7c3717bcd48c4b7e5c878d7f0b809b8687a4e6fac471f3863de320a82ee72b8a
185739 dd7857b25ca1417f87c282750e22c50947f75e81fa032d4e0c96b902c9dc9757
185884 9f8eff9239bb764d51524a998387a7babcff9f62161804651b030b81aabd5ab8
188673 377e5cdbcd7f0ac7336f482fc7ead7446887863f26769b3841fe98aadca77dad
188074 f50d2d77acd2df564c5f0f40b1b24cd929f5944460aa4cd90c422cb5cef33a59
220502 3e13fdea09accc14f46fb2f3ffa1e882cdd9c53b28a6842c4c10229692c7d1a4
215959 ffc951c12450f94129582c16fd0d4b165c4a31469b0c42d966f07c183d3132e2
217858 0f4f7e8e0619e4c7d517ac68d3789a3b6248253747717eac418bb7d32bef4de3
218408 1bb1edd50595861743d14e1955dfa5d3c9395fb87563eca6dc81433bf9df49de
218527 999b55633f8d7082add72082656e9532c5c3d97203b376eb317f09ba88a5a5b7
215775 9153d14bfd15955fab576ea23281c4f23104b45dceed6e03e0b254607f50a1b2
223576 9ad07cf4f67984f17a08aa63e6d92d395ce55f5132e6ff4fa6d95d6890ea7f97
218862 6278609b4c42a7cb43212de0e2e2ceded758bafe0856fb56214ce658a61668e4
223127 9ef4e9fbc838b9791af83a36918d729a0ea2e90ebc71c4a3c4554059f9379756
222814 f0f917b9c3e9c96d16ea287aff9b05ecf4de88bc61d478e4aefcb64932fba70c
221564 e0154737e76392e8bf94fb2c0dfa5ddad4b53aeec942a0a8cdd8ba63443e6072
220633 d0ff11e09b0ee0c817334946e746a38ab621161d5f9c46af95c68b851f8d9a1a
219595 eed8e8bee1db8fe7af39b5b43ecf14282c5c33eca0959726eea06f662027eacc
222756 974df4b51e8905bdaabe61e80496cbf331f5c9aa9ddc2cb94113f58c2b7d2837
220730 d9ae868509c610a69acbf3d69cde4f36a8e344cbbc444f93c917bf7b9f3e784f
14322 13b67edd7607a1f284c09170c96a27d38422b0ffaf88024ea5b689acb5e1b4b0
13977 cff60a00de2901e67165c91d7708d784e4c5bcc9d1c8c677922c905d63bbc3d1
14052 a578af998c017f56763b81941c4dc612dde5731809b2cea0e8ebc37aecb84dbb
13829 c8ae3b843fed02e09411a24c10850160922c331041b17c2674025f05a99b8834
14312 a2f19c01b5d982a97923a0d29e64127a05e3f496731480ac9d9d302b5427f7ff
14048 2dd5779118f6f4d87f88ec112f1cea20663b50acb8c748b0db1f23eda82b5118
14144 2b0984e9f31fb41d4c5f4a754a3e080036b7321a0cbd9591a62010d20a574ce7
13714 2ebc8c835999589bfd7d80d81f83d24e5c41138362b0faafef0f009e1ce82144
13275 db979010ca4fbdb38c8b32d455aed0da90d598153f2a0046b63d02a6efa32b9e
14066 8ee6c79adbb740595c4d61776e065e7164c00d52c7dd7562b5279041e7f3567b
12987 b0156cc8186b0ee521927ac95645b406a42d27564607a6fea3a59c34add78f7c
12984 e47b3aa0cfb3106476af1666e631d45bd16dbf2aff88260ee65d16e4134332db
12517 85a7a899c0b72b81633ad122887ba5161d650385d7775a5b3074eb00131b3620
12912 88549c22fd647312d6b37e17d33e90800d347d60ccb1156a8dde5e67394f9f3d
12795 bcd775017eb4fdbdfe7ad6cc6420b2f16aa9d0576894d08370edcf564b46680a
12306 59a854887b504ff00a5b4b93b2299bbc0bf0cbe54dea58d2b31969229b28b369
12333 b34eb88cdc3313a6f4190f5753465df7f69d8f3c243a5c25427b1b99ecfe2499
11930 4fa076cbeb744803d987dc46cf308dc3026408e7a5188838e30e25fe3ea67dbe
11629 bd009dda57f204804732f592ed1d41ba18961d83c492413fe71548efa4a288d9
11662 bf38407c55b6033c1677230228ecb100a11294aa74a7b92e5edfdc4abadcfef9
11970 7af7296f2e892866669d4e4f9c0d4178987e6ec6e7d0751ec238d1bbe2da9c55
11617 772c722acb2eac01769b53fa5037a3d62745e53102398bf9b2202df605cadda4
11674 b19f5533ec24077a2395a085fe53af75dd350ef03798c4ff40ba9ebecb2ee0ad
12257 2d8f1df5c9ee83e59eb2d709eb153b0570f12e726690f586154b01b0a88bb540
12080 6ab02d922b5c937ecfe2a479be87a5d3e5ef950dc48da09d31f37b47d899ca9c
12226 c5ea59aca7789dd507ac31c4a82bbd4c172f9e3544f8e040442c20d1dfa9e16d
12669 b056fae9f358111b6c9e2494bdba645f206be581959b8d3763e97d62a65dd961
13023 5be3823a57c82b632cead6eb09f438c6010a244dc0975f2a3e466f45d2c06840
13061 c0b0e2a2b7aad46919d1afc980f7d5e39101fb07948ce65d9cac802d8b47682e
12983 1e8839a97178914171defd6a97158f06fcac1fc3f0d45f2acdff9c49ab3fced9
"""
FILES = tuple(
    RemoteFile(name=name, addresses=(f"{PLACE}/{name}",), size=int(size), sha256=sha256)
    for name, (size, sha256) in zip(
        [f"{kind}/{place}.png" for kind in ("image", "label") for place in range(SLICES)],
        (line.split() for line in SUMS.split("\n")[1:-1]),
        strict=True,
    )
)

SOURCE = Source(
    config=IsbiConfig,
    load=load_isbi,
    sentence="30 slices of nerve tissue, 512 x 512, each pixel membrane or cell; 6 for the test",
    origin="the ISBI 2012 challenge on segmentation of neuronal structures, by zhixuhao/unet",
    licence="not stated for the data (the repository is MIT)",
    published=True,
)
