"""What the proxy knows of Kafka's messages: which are touched, why, and how. Outside groups/ no other module knows the codec.

Answers that carry broker addresses are rewritten: Metadata, FindCoordinator, DescribeCluster, and, as the NodeEndpoints
of KIP-951, Produce from v10, ShareFetch and ShareAcknowledge. Where rewriting would cost more than the version is worth,
the version is not offered: Fetch from v16 names brokers behind the records (every Fetch answer would have to be walked),
DescribeQuorum v2 names the controllers' listeners. A test walks Kafka's message definitions for others.

ApiVersions is rewritten so that no client speaks a version of these that is not understood here. All other APIs and
versions, also those of brokers newer than this proxy, pass as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kafka_protocol import (
    API,
    CodecError,
    decode_prefix,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    fields_of,
    response_body_offset,
    surgery,
)
from kafka_protocol import messages as m
from kafka_protocol.frames import decode_request_header
from kafka_protocol.messages import keys
from proxy.addresses import Directory
from proxy.answers import LENGTH, Bytes
from proxy.causes import Cause, Disconnect
from proxy.treatments import Treatment

# The newest version that is offered, where it is not the newest that the codec knows (see above).
CEILINGS = {keys.FETCH: 15, keys.DESCRIBE_QUORUM: 1}
# From which version the answer carries broker addresses (or, ApiVersions, is ours to clamp).
REWRITTEN_FROM = {
    keys.METADATA: 0,
    keys.FIND_COORDINATOR: 0,
    keys.API_VERSIONS: 0,
    keys.DESCRIBE_CLUSTER: 0,
    keys.PRODUCE: 10,
    keys.SHARE_FETCH: 0,
    keys.SHARE_ACKNOWLEDGE: 0,
}
# Answered, or sent on in other words, by proxy/groups: whole, in every version the codec knows.
TAKEN_FROM = {
    keys.OFFSET_COMMIT: 0,
    keys.JOIN_GROUP: 0,
    keys.HEARTBEAT: 0,
    keys.LEAVE_GROUP: 0,
    keys.SYNC_GROUP: 0,
    keys.DESCRIBE_GROUPS: 0,
    keys.LIST_GROUPS: 0,
    # Before, it names no member.
    keys.TXN_OFFSET_COMMIT: 3,
    keys.CONSUMER_GROUP_HEARTBEAT: 0,
    # Before, it names no member.
    keys.OFFSET_FETCH: 9,
}
# Of which version 0 is taken too: brokers have dropped it, and are asked in another.
TAKEN_AT_0 = frozenset({keys.LIST_OFFSETS, keys.OFFSET_FETCH})
# Versions that brokers have dropped are served all the same, while the broker takes this one.
SERVED_FROM_0 = {keys.OFFSET_COMMIT: 2, keys.LIST_OFFSETS: 1, keys.OFFSET_FETCH: 1, keys.JOIN_GROUP: 2}
FIRST_INTRODUCTION = 3
# The oldest that brokers since 4.0 take (KIP-896), as clients since 0.11 speak it.
FIRST_PRODUCE, FIRST_FETCH = 3, 4
# The APIs of which no version is passed that is not understood.
CLAMPED = {*CEILINGS, *REWRITTEN_FROM, *TAKEN_FROM}

NONE = 0
UNSUPPORTED_VERSION = 35
# Of what a client says that it is. It is kept with its connection, shown, traced; and said before anybody knows who it is.
LONGEST_SOFTWARE = 100
# Each coordinator is read and written by itself, and everybody waits meanwhile: tenths of a second for all of these.
LARGEST_FIND_COORDINATOR = 4 * 1024 * 1024
# ApiVersions answers: one from each version of broker and of request, while a cluster is upgraded.
MOST_REMEMBERED = 64
CLIENT_ID = "kip848-proxy"


def api_of(key: int, version: int) -> int:
    """API and version as one number, as they stand in a request's header."""
    return key << 16 | version & 0xFFFF


UNKNOWN_API = 0x7FFF_FFFF


def api_name(key: int) -> str:
    return API[key].name if key in API else "unknown"


class Broker(NamedTuple):
    node: int
    host: str
    port: int


class Wire:
    """What conversations and the scout ask of the codec. Every broker address that passes goes through `directory`."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        # By version and broker's words. Brokers hardly ever change what they say, and every connection begins with it.
        self._clamped: dict[tuple[int, bytes], bytes] = {}
        self.treatments: Mapping[int, Treatment] = MappingProxyType(_treatments())

    # ------------------------------------------------------------------------------------------- for conversations

    def treatment_of_unlisted(self, api: int) -> Treatment:
        """APIs and versions newer than the codec: passed, but for those whose answers must be understood."""
        key, version = api >> 16, api & 0xFFFF
        if key == keys.API_VERSIONS:
            return Treatment.ANSWERED_HERE
        if key in CLAMPED:
            raise Disconnect(Cause.UNSUPPORTED_VERSION, f"{API[key].name} v{version}; up to v{ceiling(key)} is offered")
        if key >= 0x8000:
            raise Disconnect(Cause.MALFORMED_REQUEST, f"api key {key - 0x10000}")
        return Treatment.OPAQUE

    def counted_as(self, api: int) -> int:
        """What is not listed is counted by its key, if there is one: clients may make up any."""
        return api | 0xFFFF if api >> 16 in API else UNKNOWN_API

    def produce_acks(self, frame: Bytes) -> int | None:
        return surgery.produce_acks(frame)

    def software(self, frame: bytes) -> tuple[str, str]:
        """What an ApiVersions request says of its sender (KIP-511). One that cannot be read is the broker's to refuse."""
        try:
            _, request = decode_request(frame)
        except CodecError:
            return "", ""
        return request.client_software_name[:LONGEST_SOFTWARE], request.client_software_version[:LONGEST_SOFTWARE]

    def client_id(self, frame: Bytes) -> str:
        """Of whoever sent this request, of which the beginning is here."""
        try:
            return decode_request_header(frame)[0].client_id or ""
        except CodecError:
            return ""

    def group_of(self, frame: Bytes) -> str | None:
        """The group that a request is about, the first of several; empty: of none. None: it is not in what is here, or that
        cannot be read."""
        try:
            header, at = decode_request_header(frame)
            named = group_names(header.api_key, header.api_version, bytes(frame[at:]))
        except CodecError:
            return None
        return named[0] if named else ""

    def begins_session(self, api: int, answer: Bytes) -> bool:
        """Is this certainly the answer to the last step of an authentication? How long the session lasts is said there alone,
        and always where a client may authenticate again (KIP-368, SaslServerAuthenticator): 0 where a step follows, to who
        failed, and where it lasts for ever."""
        try:
            _, verdict = decode_response(api >> 16, api & 0xFFFF, answer)
        except CodecError:
            return False
        return int(verdict.session_lifetime_ms) > 0

    def rewrite(self, api: int, answer: Bytes) -> Bytes:
        """The answer (correlation id first, no length) with what clients may know in place of what brokers said."""
        try:
            return self._rewritten(api >> 16, api & 0xFFFF, answer)
        except CodecError as error:
            raise Disconnect(Cause.MALFORMED_ANSWER, str(error)) from error

    def answer(self, api: int, correlation_id: int) -> bytes:
        """ApiVersions newer than ours gets version 0 with error 35, from which clients learn what to ask instead."""
        versions = m.ApiVersionsResponseApiVersion(api_key=keys.API_VERSIONS, max_version=ceiling(keys.API_VERSIONS))
        refusal = m.ApiVersionsResponse(error_code=UNSUPPORTED_VERSION, api_keys=[versions])
        return _framed(encode_response(keys.API_VERSIONS, 0, correlation_id, refusal))

    # ------------------------------------------------------------------------------------------------ for the scout

    def ask_api_versions(self) -> bytes:
        return _framed(encode_request(keys.API_VERSIONS, 0, 1, CLIENT_ID, m.ApiVersionsRequest()))

    def ask_brokers(self) -> bytes:
        return _framed(encode_request(keys.METADATA, 1, 2, CLIENT_ID, m.MetadataRequest(topics=[])))

    def brokers_of(self, answer: bytes) -> list[Broker]:
        try:
            _, metadata = decode_response(keys.METADATA, 1, answer)
        except CodecError as error:
            raise Disconnect(Cause.MALFORMED_ANSWER, f"{error}: is this a Kafka broker?") from error
        return [Broker(broker.node_id, broker.host, broker.port) for broker in metadata.brokers]

    # -------------------------------------------------------------------------------------------------- rewriting

    def _rewritten(self, key: int, version: int, answer: Bytes) -> Bytes:
        if key == keys.METADATA:
            return self._rewrite_metadata(version, answer)
        if key == keys.FIND_COORDINATOR:
            return self._rewrite_find_coordinator(version, answer)
        if key == keys.DESCRIBE_CLUSTER:
            return self._rewrite_describe_cluster(version, answer)
        if key == keys.API_VERSIONS:
            return self._clamp_api_versions(version, answer)
        return self._rewrite_node_endpoints(key, version, answer)

    def _rewrite_metadata(self, version: int, answer: Bytes) -> Bytes:
        """The brokers are a prefix in every version; all the topics behind them are copied, not decoded."""
        start = response_body_offset(keys.METADATA, version, answer)
        front, rest = surgery.split_metadata(answer[start:], version)
        if not front.brokers:
            return self._told_of_no_broker(version, answer)
        for broker in front.brokers:
            broker.host, broker.port = self._directory.learn(broker.node_id, broker.host, broker.port)
        return b"".join((answer[:start], surgery.join_metadata(front, version, answer[start + rest :])))

    def _told_of_no_broker(self, version: int, answer: Bytes) -> Bytes:
        """What a broker says that is not of its cluster any more, or not yet, and knows of no other. librdkafka since 2.13
        believes it, forgets all brokers, and never asks again (its issue 5301); hung up on, it asks elsewhere or again, as
        all clients do. Unless it says what is wrong: then there is something to read in it."""
        _, metadata = decode_response(keys.METADATA, version, answer)
        if metadata.error_code == NONE:
            raise Disconnect(
                Cause.NO_BROKERS, "Metadata that names no broker: it is about to stop, or cut off from its cluster"
            )
        return answer

    def _rewrite_find_coordinator(self, version: int, answer: Bytes) -> Bytes:
        if len(answer) > LARGEST_FIND_COORDINATOR:
            detail = (
                f"{len(answer)} bytes of coordinators, of at most {LARGEST_FIND_COORDINATOR}: ask for fewer at once"
            )
            raise Disconnect(Cause.ANSWER_TOO_LARGE, detail)
        correlation_id, found = decode_response(keys.FIND_COORDINATOR, version, answer)
        for coordinator in found.coordinators if version >= 4 else [found]:
            # Nobody (-1) coordinates yet: an error stands beside it, and there is no address to hide.
            if coordinator.node_id >= 0:
                told = self._directory.learn(coordinator.node_id, coordinator.host, coordinator.port)
                coordinator.host, coordinator.port = told
        return encode_response(keys.FIND_COORDINATOR, version, correlation_id, found)

    def _rewrite_describe_cluster(self, version: int, answer: Bytes) -> Bytes:
        correlation_id, cluster = decode_response(keys.DESCRIBE_CLUSTER, version, answer)
        for broker in cluster.brokers:
            broker.host, broker.port = self._directory.learn(broker.broker_id, broker.host, broker.port)
        return encode_response(keys.DESCRIBE_CLUSTER, version, correlation_id, cluster)

    def _rewrite_node_endpoints(self, key: int, version: int, answer: Bytes) -> Bytes:
        """Only answers that say "not the leader" name brokers; all others leave as they came. Of Produce the usual
        answer is known at a glance, for a third of what decoding it costs."""
        if key == keys.PRODUCE and surgery.names_no_broker(answer, version):
            return answer
        correlation_id, message = decode_response(key, version, answer)
        if not message.node_endpoints:
            return answer
        for node in message.node_endpoints:
            node.host, node.port = self._directory.learn(node.node_id, node.host, node.port)
        return encode_response(key, version, correlation_id, message)

    def _clamp_api_versions(self, version: int, answer: Bytes) -> Bytes:
        said = (version, bytes(answer[4:]))
        if said not in self._clamped:
            if len(self._clamped) >= MOST_REMEMBERED:
                self._clamped.clear()
            self._clamped[said] = _clamped(version, answer)[4:]
        return b"".join((answer[:4], self._clamped[said]))


def _clamped(version: int, answer: Bytes) -> bytes:
    """Maxima come down to what is understood here; minima stay; an API of which nothing is left is not offered."""
    # A broker that does not know the version asked for answers in version 0.
    error = int.from_bytes(answer[4:6], "big", signed=True)
    spoken = 0 if error == UNSUPPORTED_VERSION else version
    correlation_id, versions = decode_response(keys.API_VERSIONS, spoken, answer)
    for offered in versions.api_keys:
        if offered.api_key in CLAMPED:
            offered.max_version = min(offered.max_version, ceiling(offered.api_key))
        if offered.min_version <= SERVED_FROM_0.get(offered.api_key, -1) <= offered.max_version:
            offered.min_version = 0
    versions.api_keys = [offered for offered in versions.api_keys if offered.min_version <= offered.max_version]
    return encode_response(keys.API_VERSIONS, spoken, correlation_id, versions)


def group_names(key: int, version: int, body: bytes) -> list[str]:
    """They stand at the front of every request that names any."""
    request = API[key].request
    fields = {field.name for field in fields_of(request, version)}
    if "group_id" in fields:
        return [decode_prefix(request, version, body, "group_id")[0].group_id]
    if "groups" in fields:
        groups: list[Any] = decode_prefix(request, version, body, "groups")[0].groups
        return [group if isinstance(group, str) else group.group_id for group in groups]
    return []


def ceiling(key: int) -> int:
    return CEILINGS.get(key, API[key].versions[1])


def _treatments() -> dict[int, Treatment]:
    """For each API and version that the codec knows."""
    return {
        api_of(key, version): _treatment(key, version)
        for key, api in API.items()
        for version in range(api.versions[0], api.versions[1] + 1)
        if version <= CEILINGS.get(key, version)
    }


def _treatment(key: int, version: int) -> Treatment:
    rewritten = version >= REWRITTEN_FROM.get(key, version + 1)
    if version >= TAKEN_FROM.get(key, version + 1) or (version == 0 and key in TAKEN_AT_0):
        return Treatment.TAKEN
    if key == keys.API_VERSIONS and version >= FIRST_INTRODUCTION:
        return Treatment.INTRODUCTION
    if key == keys.PRODUCE and version < FIRST_PRODUCE:
        return Treatment.PRODUCE_DROPPED
    if key == keys.PRODUCE:
        return Treatment.PRODUCE_REWRITTEN if rewritten else Treatment.PRODUCE
    if rewritten:
        return Treatment.REWRITTEN
    if key == keys.FETCH and version < FIRST_FETCH:
        return Treatment.DROPPED
    if key == keys.SASL_HANDSHAKE and version == 0:
        return Treatment.TOKENS_FOLLOW
    if key == keys.SASL_HANDSHAKE:
        return Treatment.AUTHENTICATION
    if key == keys.SASL_AUTHENTICATE:
        return Treatment.PROOF
    return Treatment.OPAQUE


def _framed(frame: bytes) -> bytes:
    return LENGTH.pack(len(frame)) + frame
