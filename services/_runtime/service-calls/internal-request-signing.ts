import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import { type Principal, principalSchema } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { allowedCallersOf, type InternalCallerName } from "@pragma/contracts/service-names";
import { LRUCache } from "lru-cache";
import { type InternalKey, readInternalKeys } from "../config/internal-keys.ts";
import type { EnvironmentVariables } from "../config/runtime-config.ts";
import { createInternalPrincipal, type RequestIdentity } from "../http/request-identity.ts";

/** The headers in which a caller tells a service of another process who asks. */
const principalHeader = "x-pragma-principal";
const signatureHeader = "x-pragma-signature";

/** Headers that would mean two things when they came twice. */
const nonRepeatableHeaders = [
  "host",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
  "traceparent",
  principalHeader,
  signatureHeader,
];

/** Seconds for which a signature is good: as long as a request may wait for a connection, and clocks may differ. */
const signatureLifetimeSeconds = 60;

interface UnsignedInternalRequest extends Omit<RequestIdentity, "principal"> {
  method: string;
  target: string;
  /** Whom the gateway asks for; left out where a part asks for itself. */
  principal?: Principal;
}

/** Returns the headers that identify a caller to one service, for one request. */
export type InternalRequestSigner = ReturnType<typeof createInternalRequestSigner>;

/** @throws `ConfigError` when this caller has no key for the service. */
export function createInternalRequestSigner(
  environment: EnvironmentVariables,
  caller: InternalCallerName,
  service: ServiceName,
) {
  const [key] = readInternalKeys(environment, caller, service) as [InternalKey];
  const encoded = new WeakMap<Principal, string>();
  const encode = (principal: Principal) => {
    const text = encoded.get(principal) ?? Buffer.from(JSON.stringify(principal)).toString("base64url");
    encoded.set(principal, text);
    return text;
  };
  return ({
    method,
    target,
    requestId,
    origin,
    traceparent,
    principal,
  }: UnsignedInternalRequest): Record<string, string> => {
    const expires = String(Math.floor(Date.now() / 1000) + signatureLifetimeSeconds);
    const text = principal ? encode(principal) : "";
    const signature = computeSignature(key, [method, target, requestId, origin, expires, text]).toString("base64url");
    const [proto = "", host = ""] = origin.split("://");
    return {
      "x-request-id": requestId,
      "x-forwarded-proto": proto,
      "x-forwarded-host": host,
      ...(traceparent !== undefined && { traceparent }),
      [principalHeader]: text,
      [signatureHeader]: `${caller};${key.id};${expires};${signature}`,
    };
  };
}

/** @throws `ConfigError` when the key of the gateway, or of another caller of this service, is missing. */
export function createInternalRequestVerifier(environment: EnvironmentVariables, service: ServiceName) {
  const keys = new Map(
    allowedCallersOf(service).map((caller) => [caller, readInternalKeys(environment, caller, service)]),
  );
  const principals = new LRUCache<string, Principal>({ max: 10_000 });

  function parsePrincipal(text: string): Principal {
    const known = principals.get(text);
    if (known) return known;
    const principal = principalSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    principals.set(text, principal);
    return principal;
  }

  /**
   * Returns who sent a request to this service: the gateway for a client, or another part for itself.
   *
   * @throws `ApiError` key_missing when it is not signed for this very request by a part that may ask this service;
   * invalid_request when a header that identifies the caller came twice.
   */
  return (incoming: IncomingMessage): RequestIdentity => {
    const { method = "", url = "", headers, headersDistinct } = incoming;
    const twice = nonRepeatableHeaders.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (twice) throw new ApiError("invalid_request", { detail: `The header ${twice} may come only once.` });
    const header = (name: string) => String(headers[name] ?? "");
    const requestId = header("x-request-id");
    const origin = `${header("x-forwarded-proto")}://${header("x-forwarded-host")}`;
    const text = header(principalHeader);
    const [caller = "", id, expires = "", signature = ""] = header(signatureHeader).split(";");
    const key = keys.get(caller as InternalCallerName)?.find((each) => each.id === id);
    const isSigned =
      key && isSameSignature(computeSignature(key, [method, url, requestId, origin, expires, text]), signature);
    if (!isSigned || !isUnexpired(expires)) {
      throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
    }
    return {
      // Only the gateway speaks for others; every other part has the rights of its own name.
      principal:
        caller === "gateway" && text !== ""
          ? parsePrincipal(text)
          : createInternalPrincipal(caller as InternalCallerName, service),
      requestId,
      traceparent: header("traceparent") || undefined,
      origin,
    };
  };
}

/** Signs method, target, request id, origin, expiry and principal: the caller is believed for this request only. */
function computeSignature({ secret }: InternalKey, parts: string[]): Buffer {
  return createHmac("sha256", secret).update(parts.join("\n")).digest();
}

function isSameSignature(expected: Buffer, given: string): boolean {
  const bytes = Buffer.from(given, "base64url");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Clocks may differ by one lifetime; what is good for longer than that was not signed by this product. */
function isUnexpired(expires: string): boolean {
  const secondsLeft = Number(expires) - Date.now() / 1000;
  return secondsLeft > 0 && secondsLeft <= 2 * signatureLifetimeSeconds;
}
