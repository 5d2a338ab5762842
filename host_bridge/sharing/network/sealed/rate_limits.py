"""The rate limits of handshakes, each of which costs two multiplications on a curve."""

from __future__ import annotations

from collections import OrderedDict

from host_bridge.sharing.network.sealed.handshake import Address

_ADDRESSES_KEPT = 1024  # more hosts than a subnet has; the oldest goes


class _Rate:
    """So many a second, with as many at once."""

    def __init__(self, per_s: int) -> None:
        self._per_s = per_s
        self._left: OrderedDict[object, tuple[float, int]] = OrderedDict()

    def has(self, key: object, now_us: int) -> bool:
        left, counted_us = self._left.get(key, (float(self._per_s), now_us))
        left = min(left + (now_us - counted_us) * 1e-6 * self._per_s, float(self._per_s))
        self._left[key] = (left, now_us)
        self._left.move_to_end(key)
        if len(self._left) > _ADDRESSES_KEPT:
            self._left.popitem(last=False)
        return left >= 1

    def take(self, key: object) -> None:
        left, counted_us = self._left[key]
        self._left[key] = (left - 1, counted_us)


class StartLimits:
    """The allowance of STARTs: of one host, of one token, and of all."""

    def __init__(self) -> None:
        self._hosts, self._tokens, self._all = _Rate(4), _Rate(5), _Rate(50)  # a second

    def may_start(self, address: Address, token_id: bytes, now_us: int) -> bool:
        """Return whether a handshake may be computed now, and count it if so."""
        keys = ((self._hosts, address[0]), (self._tokens, token_id), (self._all, None))
        if not all(rate.has(key, now_us) for rate, key in keys):
            return False
        for rate, key in keys:
            rate.take(key)
        return True
