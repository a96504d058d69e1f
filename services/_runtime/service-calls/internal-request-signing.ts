import { createHmac, type Hmac, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { maxUserAgentLength } from "@pragma/contracts/audit";
import { ApiError } from "@pragma/contracts/errors";
import { type Principal, principalSchema } from "@pragma/contracts/principal";
import { getAllowedCallersOfService, type InternalCallerName, type ServiceName } from "@pragma/contracts/service-names";
import { LRUCache } from "lru-cache";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { type InternalSigningKey, readInternalSigningKeys } from "../config/internal-keys.ts";
import { hasRequestBody } from "../http/read-body.ts";
import { createCallingServicePrincipal, type RequestPrincipalAndMetadata } from "../http/request-identity.ts";
import { createBodyVerifier, startBodySignature } from "./body-signature.ts";

/** The headers with the principal and the caller's signature, in requests to a service in another process. */
const principalHeader = "x-pragma-principal";
const signatureHeader = "x-pragma-signature";
/** The client's address, which the signature of a change covers, like the User-Agent header. */
const clientHeader = "x-pragma-client";

/** Repeated, they would leave open which of the values determine the principal, request id, trace and origin. */
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

/** To refuse changes that are sent again. More than an instance can handle while a signature is valid. */
const maxRememberedSignatures = 100_000;

interface UnsignedInternalRequest extends Omit<RequestPrincipalAndMetadata, "principal"> {
  method: string;
  target: string;
  /** The client's principal in requests that the gateway forwards, or undefined in the caller's own requests. */
  principal?: Principal;
  /** Whether the request has a body, which `signBody` then signs. Default: false. */
  hasBody?: boolean;
}

/** Returns whether a request can change data. Its signature covers its body, and is accepted only once. */
const isChange = (method: string) => method !== "GET" && method !== "HEAD";

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
  function sign(request: UnsignedInternalRequest): Record<string, string> {
    const { method, target, requestId, origin, traceparent, principal, hasBody = false } = request;
    const expires = String(Math.floor(Date.now() / 1000) + signatureLifetimeSeconds);
    const text = principal ? encodePrincipal(principal) : "";
    // Two requests have different signatures, even if a client sends the same request id twice.
    const nonce = isChange(method) ? randomUUID() : "";
    // Only for changes, which the audit log records.
    const client = isChange(method) ? request.client : undefined;
    const bodyAndClient = [hasBody ? "body" : "", client?.address ?? "", client?.userAgent ?? ""];
    const parts = [method, target, requestId, origin, expires, text, nonce, ...bodyAndClient];
    const signature = computeSignature(key, parts).toString("base64url");
    const [proto = "", host = ""] = origin.split("://");
    return {
      "x-request-id": requestId,
      "x-forwarded-proto": proto,
      "x-forwarded-host": host,
      ...(traceparent !== undefined && { traceparent }),
      [principalHeader]: text,
      [signatureHeader]: `${caller};${key.id};${expires};${signature};${nonce}`,
      ...(client && { [clientHeader]: client.address }),
    };
  }
  return {
    sign,
    /** Returns the HMAC of the body of a request with these signed headers, still without the body. */
    signBody(headers: Record<string, string>): Hmac {
      const [, , , signature = ""] = (headers[signatureHeader] ?? "").split(";");
      return startBodySignature(key.secret, signature);
    },
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
  const principals = new LRUCache<string, Principal>({
    max: 10_000,
    memoMethod: (text) => principalSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString())),
  });
  const usedSignatures = new LRUCache<string, true>({
    max: maxRememberedSignatures,
    ttl: 2 * signatureLifetimeSeconds * 1000,
  });

  /**
   * Returns the identity of a request: the client for requests that the gateway forwards, and otherwise the caller. The
   * body must be read through its `createBodyVerifier`. Each instance accepts the signature of a change once, so a
   * copied request can only have the effect of the first one again, at another instance, within a minute.
   *
   * @throws `ApiError` key_missing without a valid signature of an allowed caller; invalid_request if a header is
   * repeated.
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
    const [caller = "", id, expires = "", signature = "", nonce = ""] = header(signatureHeader).split(";");
    const key = keys.get(caller as InternalCallerName)?.find((candidate) => candidate.id === id);
    const hasBody = hasRequestBody(incoming);
    const address = header(clientHeader);
    const userAgent = (address !== "" && headers["user-agent"]?.slice(0, maxUserAgentLength)) || null;
    const bodyAndClient = [hasBody ? "body" : "", address, userAgent ?? ""];
    const parts = [method, url, requestId, origin, expires, text, nonce, ...bodyAndClient];
    const isSigned = key && isSameSignature(computeSignature(key, parts), signature);
    if (!isSigned || !isUnexpired(expires)) {
      throw new ApiError("key_missing", { detail: "This service accepts only requests from the gateway." });
    }
    if (isChange(method)) {
      if (usedSignatures.has(signature))
        throw new ApiError("key_missing", { detail: "The signature of this request was used before." });
      usedSignatures.set(signature, true);
    }
    return {
      // Only the gateway may send the principal of a client.
      principal:
        caller === "gateway" && text !== ""
          ? principals.memo(text)
          : createCallingServicePrincipal(caller as InternalCallerName, service),
      requestId,
      traceparent: header("traceparent") || undefined,
      origin,
      ...(address !== "" && { client: { address, userAgent } }),
      ...(hasBody && { createBodyVerifier: () => createBodyVerifier(startBodySignature(key.secret, signature)) }),
    };
  };
}

function computeSignature({ secret }: InternalSigningKey, parts: string[]): Buffer {
  return createHmac("sha256", secret).update(parts.join("\n")).digest();
}

/** Accepts only one spelling of a signature, because the verifier recognizes repeated signatures by their text. */
function isSameSignature(expected: Buffer, received: string): boolean {
  const bytes = Buffer.from(received, "base64url");
  if (bytes.toString("base64url") !== received) return false;
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** Also rejects an expiry time in more than two lifetimes, because clocks differ by less than one. */
function isUnexpired(expires: string): boolean {
  const secondsLeft = Number(expires) - Date.now() / 1000;
  return secondsLeft > 0 && secondsLeft <= 2 * signatureLifetimeSeconds;
}
