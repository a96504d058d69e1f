import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { ApiError } from "@pragma/contracts/errors";

/** The configuration of the proxies in front of the gateway. */
export interface ProxyConfig {
  /** The number of proxies whose X-Forwarded headers are trusted. */
  trustedProxies: number;
  /** The origin of the public URL of this API. If it is undefined, absolute links contain the host of the request. */
  publicUrl: string | undefined;
}

const hostPattern = /^[\w.:[\]-]{1,255}$/;

/**
 * Returns the base of absolute links, such as `https://api.example`: the public URL, or the scheme and host that the
 * client used.
 *
 * @throws `ApiError` invalid_request when the Host header, or a trusted X-Forwarded-Host header, is not a valid host.
 */
export function getPublicBaseUrl(incoming: IncomingMessage, { trustedProxies, publicUrl }: ProxyConfig): string {
  if (publicUrl) return publicUrl;
  const forwarded = (name: string) =>
    (trustedProxies > 0 &&
      String(incoming.headers[name] ?? "")
        .split(",")[0]
        ?.trim()) ||
    undefined;
  const host = forwarded("x-forwarded-host") ?? incoming.headers.host ?? "localhost";
  if (!hostPattern.test(host))
    throw new ApiError("invalid_request", { detail: "The Host header is not a valid host." });
  const isEncrypted = (incoming.socket as TLSSocket).encrypted === true;
  const proto = forwarded("x-forwarded-proto")?.toLowerCase() ?? (isEncrypted ? "https" : "http");
  return `${proto === "https" ? "https" : "http"}://${host}`;
}

/**
 * Returns the client's IP address: the address that the outermost trusted proxy reported, without a port, or the peer's
 * address if no trusted proxy reported an address.
 */
export function getClientIpAddress(incoming: IncomingMessage, { trustedProxies }: ProxyConfig): string {
  const peer = incoming.socket.remoteAddress ?? "unknown";
  if (trustedProxies === 0) return peer;
  const hops = String(incoming.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((hop) => hop.trim())
    .filter((hop) => hop !== "");
  const hop = hops.at(-trustedProxies) ?? hops[0];
  return (hop && findIpAddress(hop)) ?? peer;
}

/** Returns the address in an entry of X-Forwarded-For, such as `203.0.113.7`, `203.0.113.7:1234` or `[2001:db8::1]:443`. */
function findIpAddress(hop: string): string | undefined {
  const address = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:]+))(?::\d+)?$/.exec(hop)?.groups;
  return [hop, address?.bracketed, address?.plain].find((each) => each !== undefined && isIP(each) !== 0);
}
