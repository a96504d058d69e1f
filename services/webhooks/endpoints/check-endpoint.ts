import { isIP } from "node:net";
import type { RequestIssue } from "@pragma/contracts/errors";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { WebhookAddressPolicy } from "./address-policy.ts";
import type { OwnPorts } from "./own-ports.ts";
import type { HostResolver } from "./resolve-host.ts";

export interface WebhookEndpointRules {
  addressPolicy: WebhookAddressPolicy;
  ownPorts: OwnPorts;
  resolveHost: HostResolver;
  isHttpsRequired: boolean;
  /** The origin of the inboxes of sandboxes, such as `http://sandboxes:4010`, which needs neither https nor a public host. */
  inboxOrigin?: string | undefined;
}

/** Why an endpoint is rejected: a stable code, and a message for clients. */
export type WebhookEndpointRejection = Pick<RequestIssue, "code" | "message">;

/**
 * Returns what is wrong with an endpoint's URL, such as its scheme or port; undefined if the URL is allowed. Does not
 * resolve the host.
 */
export function findWebhookUrlSyntaxIssue(
  text: string,
  { isHttpsRequired, inboxOrigin }: Pick<WebhookEndpointRules, "isHttpsRequired" | "inboxOrigin">,
): WebhookEndpointRejection | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return { code: "invalid_url", message: "Must be an absolute URL, such as https://example.com/webhooks" };
  }
  if (isHttpsRequired && url.protocol !== "https:" && url.origin !== inboxOrigin)
    return { code: "https_required", message: "Must be an https URL" };
  if (url.username !== "" || url.password !== "") {
    const message = "Must not contain a username or password. Set the recipient's `apiKey` instead.";
    return { code: "userinfo", message };
  }
  if (url.hash !== "") return { code: "fragment", message: "Must not have a fragment, because it would not be sent" };
  // Lower ports belong to protocols such as SMTP, whose servers could execute a line of the request as a command.
  const port = getUrlPort(url);
  if (port !== 80 && port !== 443 && port < 1_024)
    return { code: "forbidden_port", message: "Must use port 80, 443, or 1024 or higher" };
  return undefined;
}

/** Maximum time to resolve a host when an endpoint is registered, in milliseconds. */
const resolveTimeoutMs = 3_000;

/**
 * The issue for a host that has no address or a forbidden address. The message does not state which of the two is the
 * cause, because the difference could reveal which internal hosts exist.
 */
const forbiddenAddressIssue: WebhookEndpointRejection = {
  code: "forbidden_address",
  message: "Must have a public IP address. This host has no address, or an address that is not public.",
};

const ownPortIssue: WebhookEndpointRejection = {
  code: "forbidden_port",
  message: "Must not be a port of this API, or of a server that it uses.",
};

/**
 * Returns what is wrong with the URL or the addresses of an endpoint; undefined if they are allowed. Accepts a host
 * on the operator's allowlist, except for ports of this installation. Also accepts a host if its lookup fails for a
 * temporary reason or takes too long, because each connection checks the addresses again.
 */
export async function findWebhookEndpointUrlIssue(
  text: string,
  rules: WebhookEndpointRules,
): Promise<WebhookEndpointRejection | undefined> {
  const urlIssue = findWebhookUrlSyntaxIssue(text, rules);
  if (urlIssue) return urlIssue;
  const url = new URL(text);
  // The brackets of an IPv6 address are removed, because the address policy expects addresses without brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const { addressPolicy, ownPorts, inboxOrigin } = rules;
  const isOwnPort = ownPorts.has(getUrlPort(url));
  if ((addressPolicy.isHostAllowlisted(host) || url.origin === inboxOrigin) && !isOwnPort) return undefined;
  const addresses = isIP(host) ? [host] : await resolveAddresses(host, rules.resolveHost);
  if (!addresses?.every((address) => addressPolicy.isAddressAllowed(address, host))) return forbiddenAddressIssue;
  return isOwnPort && addresses.some(ownPorts.isOwnAddress) ? ownPortIssue : undefined;
}

/** Returns the port to which a client of this URL connects. */
export function getUrlPort({ port, protocol }: Pick<URL, "port" | "protocol">): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Returns the addresses of a host: undefined if it has none, and an empty list if the lookup fails or takes too long. */
async function resolveAddresses(host: string, resolveHost: HostResolver): Promise<string[] | undefined> {
  const resolveTimeout = new AbortController();
  // Resolves with undefined if the name is invalid or has no address, and with an empty list after any other error.
  const resolution = resolveHost(host).catch(({ code }: NodeJS.ErrnoException) =>
    /^E(?:NOTFOUND|NODATA|BADNAME)$/.test(String(code)) ? undefined : [],
  );
  const addresses = await Promise.race([resolution, sleep(resolveTimeoutMs, resolveTimeout.signal).then(() => [])]);
  resolveTimeout.abort();
  return addresses?.map(({ address }) => address);
}
