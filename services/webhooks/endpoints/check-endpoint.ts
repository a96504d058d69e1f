import { isIP } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { AddressPolicy } from "./address-policy.ts";
import type { ResolveHost } from "./resolve-host.ts";

export interface EndpointRules {
  addressPolicy: AddressPolicy;
  resolveHost: ResolveHost;
  /** Whether https is demanded. */
  isHttpsRequired: boolean;
}

/** Why an endpoint is not taken: a stable name, and what to do about it. */
export interface EndpointIssue {
  code: string;
  message: string;
}

/** Says what is wrong with how an endpoint's address is written, if anything. */
export function checkEndpointUrl(
  text: string,
  { isHttpsRequired }: Pick<EndpointRules, "isHttpsRequired">,
): EndpointIssue | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return { code: "invalid_url", message: "must be an absolute URL, such as https://example.com/webhooks" };
  }
  if (isHttpsRequired && url.protocol !== "https:") return { code: "https_required", message: "must be an https URL" };
  if (url.username !== "" || url.password !== "") {
    return { code: "userinfo", message: "must not carry a user or password: give the recipient an apiKey instead" };
  }
  if (url.hash !== "") return { code: "fragment", message: "must not have a fragment: it is never sent" };
  if (!isPortAllowed(url)) return { code: "forbidden_port", message: "must be on port 80, 443, or 1024 and above" };
  return undefined;
}

/** Below 1024 are the ports of mail, shells and databases, some of which take a posted line for a command. */
function isPortAllowed({ port }: URL): boolean {
  return port === "" || port === "80" || port === "443" || Number(port) >= 1_024;
}

/** How long a name may take to resolve when an endpoint is registered. */
const resolveTimeoutMs = 3_000;

/** The same for all, so that it does not tell which internal names there are, nor what they stand for. */
const forbiddenAddressIssue: EndpointIssue = {
  code: "forbidden_address",
  message: "must be at a public address. This host is not, or has no address.",
};

/**
 * Says what is wrong with an endpoint, if anything: how it is written, or where it is. A name is let through when name
 * servers do not answer, or an operator named it: each connection checks it anyway.
 */
export async function checkWebhookEndpoint(text: string, rules: EndpointRules): Promise<EndpointIssue | undefined> {
  const urlIssue = checkEndpointUrl(text, rules);
  if (urlIssue) return urlIssue;
  // As connections are made to it: an IPv6 address without its brackets.
  const host = new URL(text).hostname.replace(/^\[(.*)\]$/, "$1");
  return (await hasForbiddenAddress(host, rules)) ? forbiddenAddressIssue : undefined;
}

async function hasForbiddenAddress(host: string, { addressPolicy, resolveHost }: EndpointRules): Promise<boolean> {
  if (isIP(host)) return !addressPolicy.isAddressAllowed(host, host);
  if (addressPolicy.isHostAllowlisted(host)) return false;
  const resolveTimeout = new AbortController();
  // Undefined: name servers have answered that it has no address, or its name cannot be one.
  const resolved = resolveHost(host).catch(({ code }: NodeJS.ErrnoException) =>
    /^E(?:NOTFOUND|NODATA|BADNAME)$/.test(String(code)) ? undefined : [],
  );
  const addresses = await Promise.race([resolved, sleep(resolveTimeoutMs, resolveTimeout.signal).then(() => [])]);
  resolveTimeout.abort();
  return !addresses || addresses.some(({ address }) => !addressPolicy.isAddressAllowed(address, host));
}
