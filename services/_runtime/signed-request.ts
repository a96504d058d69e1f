import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import { type CallerName, callersOf } from "@pragma/contracts/internal-calls";
import { type Principal, principalSchema } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { LRUCache } from "lru-cache";
import { type Caller, internalPrincipal } from "./caller.ts";
import type { Environment } from "./config.ts";
import { type InternalKey, readInternalKeys } from "./internal-keys.ts";

/** The headers in which a caller tells a service of another process who asks. */
const principalHeader = "x-pragma-principal";
const signatureHeader = "x-pragma-signature";

/** Headers that would mean two things when they came twice. */
const singleHeaders = new Set([
  "host",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
  "traceparent",
  principalHeader,
  signatureHeader,
]);

/** Seconds for which a signature is good: as long as a request may wait for a connection, and clocks may differ. */
const lifetimeSeconds = 60;

/** A request as it is signed: the caller is believed for this one only. */
interface SignedParts {
  method: string;
  /** Path and query, as they are sent. */
  target: string;
  requestId: string;
  origin: string;
  expires: string;
  /** Base64url of the principal's JSON; empty where a part asks for itself. */
  principal: string;
}

interface RequestToSign extends Omit<Caller, "principal"> {
  method: string;
  target: string;
  /** Whom the gateway asks for; left out where a part asks for itself. */
  principal?: Principal;
}

/** Returns the headers that identify a caller to one service, for one request. */
export type RequestSigner = (request: RequestToSign) => Record<string, string>;

/** @throws `ConfigError` when this caller has no key for the service. */
export function createRequestSigner(environment: Environment, caller: CallerName, service: ServiceName): RequestSigner {
  const [key] = readInternalKeys(environment, caller, service) as [InternalKey];
  const encoded = new WeakMap<Principal, string>();
  const encode = (principal: Principal) => {
    const known = encoded.get(principal);
    if (known !== undefined) return known;
    const text = Buffer.from(JSON.stringify(principal)).toString("base64url");
    encoded.set(principal, text);
    return text;
  };
  return ({ method, target, requestId, origin, traceparent, principal }) => {
    const expires = String(Math.floor(Date.now() / 1000) + lifetimeSeconds);
    const parts = { method, target, requestId, origin, expires, principal: principal ? encode(principal) : "" };
    const [proto = "", host = ""] = origin.split("://");
    return {
      "x-request-id": requestId,
      "x-forwarded-proto": proto,
      "x-forwarded-host": host,
      ...(traceparent !== undefined && { traceparent }),
      [principalHeader]: parts.principal,
      [signatureHeader]: `${caller};${key.id};${expires};${signatureOf(parts, key).toString("base64url")}`,
    };
  };
}

/**
 * Returns who sent a request to this service: the gateway for a client, or another part for itself.
 *
 * @throws `ApiError` key_missing when it is not signed for this very request by a part that may ask this service;
 * invalid_request when a header that identifies the caller came twice.
 */
export type RequestVerifier = (incoming: IncomingMessage) => Caller;

/** @throws `ConfigError` when the key of the gateway, or of another caller of this service, is missing. */
export function createRequestVerifier(environment: Environment, service: ServiceName): RequestVerifier {
  const keys = new Map(callersOf(service).map((caller) => [caller, readInternalKeys(environment, caller, service)]));
  const principals = new LRUCache<string, Principal>({ max: 10_000 });

  function principalIn(text: string): Principal {
    const known = principals.get(text);
    if (known) return known;
    const principal = principalSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    principals.set(text, principal);
    return principal;
  }

  return (incoming) => {
    refuseDuplicates(incoming.rawHeaders);
    const header = (name: string) => String(incoming.headers[name] ?? "");
    const [caller = "", id, expires = "", signature = ""] = header(signatureHeader).split(";");
    const parts: SignedParts = {
      method: incoming.method ?? "",
      target: incoming.url ?? "",
      requestId: header("x-request-id"),
      origin: `${header("x-forwarded-proto")}://${header("x-forwarded-host")}`,
      expires,
      principal: header(principalHeader),
    };
    const key = keys.get(caller as CallerName)?.find((each) => each.id === id);
    if (!key || !isFresh(expires) || !isSame(signatureOf(parts, key), signature)) throw notSigned();
    return {
      // Only the gateway speaks for others; every other part has the rights of its own name.
      principal:
        caller === "gateway" && parts.principal !== ""
          ? principalIn(parts.principal)
          : internalPrincipal(caller as CallerName, service),
      requestId: parts.requestId,
      traceparent: header("traceparent") || undefined,
      origin: parts.origin,
    };
  };
}

function signatureOf(parts: SignedParts, { secret }: InternalKey): Buffer {
  const { method, target, requestId, origin, expires, principal } = parts;
  return createHmac("sha256", secret)
    .update([method, target, requestId, origin, expires, principal].join("\n"))
    .digest();
}

function isSame(expected: Buffer, given: string): boolean {
  const bytes = Buffer.from(given, "base64url");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Clocks may differ by one lifetime; what is good for longer than that was not signed by this product. */
function isFresh(expires: string): boolean {
  const secondsLeft = Number(expires) - Date.now() / 1000;
  return secondsLeft > 0 && secondsLeft <= 2 * lifetimeSeconds;
}

function refuseDuplicates(rawHeaders: string[]): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) {
      throw new ApiError("invalid_request", { detail: `The header ${name} may come only once.` });
    }
    seen.add(name);
  }
}

function notSigned(): ApiError {
  return new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
}
