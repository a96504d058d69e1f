import { isIPv6 } from "node:net";
import type { TLSSocket } from "node:tls";
import { ApiError } from "@pragma/contracts/errors";
import type { ClientRequest } from "./client-side.ts";

/** What stands before the gateway, as far as it is known. */
export interface Surroundings {
  /** How many proxies before the gateway are believed in what they say of the client. */
  trustedProxies: number;
  /** Where clients reach this API; what the request says when it is not given. */
  publicUrl: URL | undefined;
}

/** The scheme and host that a client used. */
export interface ClientOrigin {
  proto: string;
  host: string;
}

const hostShape = /^[\w.:[\]-]{1,255}$/;

/**
 * The scheme and host that absolute links are built on.
 *
 * @throws `ApiError` invalid_request when the host cannot be one.
 */
export function originOf(incoming: ClientRequest, surroundings: Surroundings): ClientOrigin {
  const { memo = {} } = incoming;
  memo.origin ??= readOrigin(incoming, surroundings);
  return memo.origin;
}

function readOrigin(incoming: ClientRequest, { trustedProxies, publicUrl }: Surroundings): ClientOrigin {
  if (publicUrl) return { proto: publicUrl.protocol.slice(0, -1), host: publicUrl.host };
  const said = (name: string) => (trustedProxies > 0 ? firstOf(incoming.headers[name]) : undefined);
  const host = said("x-forwarded-host") ?? incoming.headers.host ?? "localhost";
  if (!hostShape.test(host)) throw new ApiError("invalid_request", { detail: "The host of the request is not one." });
  const isEncrypted = (incoming.socket as TLSSocket).encrypted === true;
  const proto = said("x-forwarded-proto")?.toLowerCase() ?? (isEncrypted ? "https" : "http");
  return { proto: proto === "https" ? "https" : "http", host };
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const [first] = String(header ?? "").split(",");
  return first?.trim() || undefined;
}

/** The client's address: the peer's, or what the outermost trusted proxy saw. */
export function addressOf(incoming: ClientRequest, { trustedProxies }: Surroundings): string {
  const peer = incoming.socket.remoteAddress ?? "unknown";
  if (trustedProxies === 0) return peer;
  const hops = String(incoming.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((hop) => hop.trim())
    .filter((hop) => hop !== "");
  return hops.at(-trustedProxies) ?? hops[0] ?? peer;
}

/** What counts as one client: an IPv4 address, or the /64 that IPv6 networks give to one. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail = ""] = plain.replace(/%.*$/, "").split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const missing = plain.includes("::") ? 8 - groups.length - tail.split(":").filter((group) => group !== "").length : 0;
  return [...groups, ...Array<string>(missing).fill("0"), ...tail.split(":")]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}
