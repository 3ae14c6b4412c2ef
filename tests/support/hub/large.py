"""Large files of the small Hub: by LFS, sent to it in one request, or by xet, in a folder that clients share.

Where the answers for tokens say `local:///DIR`, the real hf_xet writes its shards and blocks to that folder
and reads them there. A shard says which xet hash the file of a SHA-256 has: a header of 48 bytes, then for
each file one entry of 48 bytes (hash, flags, number of segments), one for each segment, one for each
segment's check where bit 31 of the flags is set, and one with the SHA-256 where bit 30 is; a hash of ones
ends the list.
"""

from __future__ import annotations

import hashlib
import struct
import tempfile
from pathlib import Path

_ENTRY = 48
_CHECKS, _SHA256 = 1 << 31, 1 << 30


class LargeFiles:
    """What is there, whichever way it came."""

    def __init__(self, folder: Path) -> None:
        self.lfs = folder / "lfs"
        self.xet = folder / "xet"
        for path in (self.lfs, self.xet):
            path.mkdir(parents=True)
        self._hashes: dict[str, str] = {}
        self._read: set[Path] = set()

    @property
    def xet_url(self) -> str:
        return f"local://{self.xet}"

    def put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        (self.lfs / sha256).write_bytes(content)
        return sha256

    def forget(self) -> None:
        """What came by LFS is not there any more; what came by xet is shared with clients that still run."""
        for path in self.lfs.iterdir():
            path.unlink()

    def has(self, sha256: str) -> bool:
        return (self.lfs / sha256).exists() or self.xet_hash(sha256) is not None

    def xet_hash(self, sha256: str) -> str | None:
        """The hash of a file that came by xet."""
        if sha256 not in self._hashes:
            for shard in set(self.xet.glob("xet/xorbs/shards/*.mdb")) - self._read:
                self._hashes |= _files(shard.read_bytes())
                self._read.add(shard)
        return self._hashes.get(sha256)

    def read(self, sha256: str, size: int) -> bytes:
        """The bytes, which hf_xet itself puts together where they came by xet."""
        path = self.lfs / sha256
        if not path.exists():
            self._fetch(self.xet_hash(sha256), size, path)
        content = path.read_bytes()
        assert hashlib.sha256(content).hexdigest() == sha256
        return content

    def _fetch(self, xet_hash: str | None, size: int, path: Path) -> None:
        from hf_xet import XetFileInfo
        from huggingface_hub.utils._xet import get_xet_session

        assert xet_hash is not None
        with tempfile.TemporaryDirectory(dir=self.lfs.parent) as folder:
            target = Path(folder) / "file"
            with get_xet_session().new_file_download_group(
                endpoint=self.xet_url, token="local", token_expiry_unix_secs=2**40
            ) as group:
                group.start_download_file(XetFileInfo(xet_hash, size), str(target))
            target.replace(path)


def _files(shard: bytes) -> dict[str, str]:
    """SHA-256 -> xet hash of the files that a shard describes."""
    found = {}
    at = _ENTRY
    while (name := shard[at : at + 32]) != b"\xff" * 32:
        flags, segments = struct.unpack_from("<II", shard, at + 32)
        at += _ENTRY * (1 + segments + (segments if flags & _CHECKS else 0))
        if flags & _SHA256:
            found[_hexadecimal(shard[at : at + 32])] = _hexadecimal(name)
            at += _ENTRY
    return found


def _hexadecimal(raw: bytes) -> str:
    """Four numbers of eight bytes, the lowest byte first."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))
