import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { maxUserAgentLength } from "@pragma/contracts/audit";
import { ApiError } from "@pragma/contracts/errors";
import { type Principal, principalSchema } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { getAllowedCallersOfService, type InternalCallerName } from "@pragma/contracts/service-names";
import { LRUCache } from "lru-cache";
import { type InternalSigningKey, readInternalSigningKeys } from "../config/internal-keys.ts";
import type { EnvironmentVariables } from "../config/renamed-variables.ts";
import {
  createCallingServicePrincipal,
  type RequestClient,
  type RequestPrincipalAndMetadata,
} from "../http/request-identity.ts";

/** The headers with the principal and the caller's signature, in requests to a service in another process. */
const principalHeader = "x-pragma-principal";
const signatureHeader = "x-pragma-signature";
/**
 * The header with the client's address, and a signature of the address, the User-Agent header and the signature of the
 * request. Services of version 1.0 ignore it, so the signature of the request does not include the client.
 */
const clientHeader = "x-pragma-client";

/**
 * The headers that a request must not repeat. Otherwise it would be ambiguous which of the values determine the
 * principal, request id, trace and origin.
 */
const nonRepeatableHeaders = [
  "host",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
  "traceparent",
  principalHeader,
  signatureHeader,
  clientHeader,
  "user-agent",
];

/** How long a signature is valid, in seconds. Allows for the wait for a connection and for clock differences. */
const signatureLifetimeSeconds = 60;

interface UnsignedInternalRequest extends Omit<RequestPrincipalAndMetadata, "principal"> {
  method: string;
  target: string;
  /** The client's principal in requests that the gateway forwards, or undefined in the caller's own requests. */
  principal?: Principal;
}

/** A function that returns the headers of a request, including its signature. */
export type InternalRequestSigner = ReturnType<typeof createInternalRequestSigner>;

/** Creates a signer for a caller's requests to a service. @throws `ConfigError` if they share no key. */
export function createInternalRequestSigner(
  environment: EnvironmentVariables,
  caller: InternalCallerName,
  service: ServiceName,
) {
  const [key] = readInternalSigningKeys(environment, caller, service) as [InternalSigningKey];
  const encodedPrincipals = new WeakMap<Principal, string>();
  const encodePrincipal = (principal: Principal) => {
    const text = encodedPrincipals.get(principal) ?? Buffer.from(JSON.stringify(principal)).toString("base64url");
    encodedPrincipals.set(principal, text);
    return text;
  };
  return ({
    method,
    target,
    requestId,
    origin,
    traceparent,
    principal,
    client,
  }: UnsignedInternalRequest): Record<string, string> => {
    const expires = String(Math.floor(Date.now() / 1000) + signatureLifetimeSeconds);
    const text = principal ? encodePrincipal(principal) : "";
    const signature = computeSignature(key, [method, target, requestId, origin, expires, text]).toString("base64url");
    const [proto = "", host = ""] = origin.split("://");
    return {
      "x-request-id": requestId,
      "x-forwarded-proto": proto,
      "x-forwarded-host": host,
      ...(traceparent !== undefined && { traceparent }),
      [principalHeader]: text,
      [signatureHeader]: `${caller};${key.id};${expires};${signature}`,
      // Only for changes, which the audit log records, so that reads do not need a second signature.
      ...(client &&
        method !== "GET" &&
        method !== "HEAD" && { [clientHeader]: `${signClient(key, signature, client)};${client.address}` }),
    };
  };
}

/** Creates a verifier for signed requests to a service. @throws `ConfigError` when an allowed caller has no key. */
export function createInternalRequestVerifier(environment: EnvironmentVariables, service: ServiceName) {
  const keys = new Map(
    getAllowedCallersOfService(service).map((caller) => [
      caller,
      readInternalSigningKeys(environment, caller, service),
    ]),
  );
  const principals = new LRUCache<string, Principal>({ max: 10_000 });

  function parsePrincipal(text: string): Principal {
    const cached = principals.get(text);
    if (cached) return cached;
    const principal = principalSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    principals.set(text, principal);
    return principal;
  }

  /**
   * Verifies a request and returns its identity. The principal is the client for requests that the gateway forwards,
   * and the caller for the caller's own requests.
   *
   * @throws `ApiError` key_missing when the request has no valid signature of an allowed caller; invalid_request when
   * one of `nonRepeatableHeaders` is repeated.
   */
  return (incoming: IncomingMessage): RequestPrincipalAndMetadata => {
    const { method = "", url = "", headers, headersDistinct } = incoming;
    const repeatedHeader = nonRepeatableHeaders.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
    if (repeatedHeader)
      throw new ApiError("invalid_request", { detail: `The header ${repeatedHeader} may be sent only once.` });
    const header = (name: string) => String(headers[name] ?? "");
    const requestId = header("x-request-id");
    const origin = `${header("x-forwarded-proto")}://${header("x-forwarded-host")}`;
    const text = header(principalHeader);
    const [caller = "", id, expires = "", signature = ""] = header(signatureHeader).split(";");
    const key = keys.get(caller as InternalCallerName)?.find((candidate) => candidate.id === id);
    const isSigned =
      key && isSameSignature(computeSignature(key, [method, url, requestId, origin, expires, text]), signature);
    if (!isSigned || !isUnexpired(expires)) {
      throw new ApiError("key_missing", { detail: "This service accepts only requests from the gateway." });
    }
    const client = readClient(key, { signature, text: header(clientHeader), userAgent: headers["user-agent"] });
    return {
      // Only the gateway may send the principal of a client. In all other requests, including the gateway's own, the
      // principal is the caller itself.
      principal:
        caller === "gateway" && text !== ""
          ? parsePrincipal(text)
          : createCallingServicePrincipal(caller as InternalCallerName, service),
      requestId,
      traceparent: header("traceparent") || undefined,
      origin,
      ...(client && { client }),
    };
  };
}

function signClient(key: InternalSigningKey, signature: string, { address, userAgent }: RequestClient): string {
  return computeSignature(key, ["client", signature, address, userAgent ?? ""]).toString("base64url");
}

/** Returns the client of a request, or undefined if the caller sent none. @throws `ApiError` key_missing. */
function readClient(
  key: InternalSigningKey,
  { signature, text, userAgent }: { signature: string; text: string; userAgent: string | undefined },
): RequestClient | undefined {
  if (text === "") return undefined;
  const separator = text.indexOf(";");
  const client = {
    address: text.slice(separator + 1),
    userAgent: userAgent?.slice(0, maxUserAgentLength) ?? null,
  };
  if (isSameSignature(Buffer.from(signClient(key, signature, client), "base64url"), text.slice(0, separator)))
    return client;
  throw new ApiError("key_missing", { detail: "The signature of the client's address is not valid." });
}

/** Returns the HMAC of a request's method, target, request id, origin, expiry and principal. */
function computeSignature({ secret }: InternalSigningKey, parts: string[]): Buffer {
  return createHmac("sha256", secret).update(parts.join("\n")).digest();
}

function isSameSignature(expected: Buffer, received: string): boolean {
  const bytes = Buffer.from(received, "base64url");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/**
 * Returns whether a signature is still valid. Rejects expiry times of more than two lifetimes in the future. Because
 * clocks differ by less than one lifetime, no valid signature has such an expiry time.
 */
function isUnexpired(expires: string): boolean {
  const secondsLeft = Number(expires) - Date.now() / 1000;
  return secondsLeft > 0 && secondsLeft <= 2 * signatureLifetimeSeconds;
}
