import { ApiError } from "@pragma/contracts/errors";
import { anonymousKey, type GatewayMiddleware } from "../server/gateway-request.ts";

/** The names under which programs of a machine reach its own servers. */
const localHostNames = ["localhost", "127.0.0.1", "[::1]"];

interface AnonymousAccessConfig {
  /** Where the gateway listens. */
  listenHost: string;
  publicUrl: string | undefined;
  trustedProxies: number;
}

/**
 * Returns middleware that lets anyone use a route, except web pages of other sites that CORS does not allow: they could
 * use up the limits of their visitor's address, and a page whose own name leads to this machine (DNS rebinding) could also
 * read the response. The latter concerns only gateways that nothing but this machine reaches, because otherwise the page
 * could send the request from its own server. Such a gateway has few names; behind a trusted proxy, it can have any.
 */
export function createAnonymousAccess({
  listenHost,
  publicUrl,
  trustedProxies,
}: AnonymousAccessConfig): GatewayMiddleware {
  const publicNames = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  const isOnlyLocal = listenHost === "localhost" && trustedProxies === 0;
  const knownNames = isOnlyLocal ? new Set([...localHostNames, ...publicNames]) : undefined;
  return (context, next) => {
    const { incoming, outgoing } = context.env;
    const { host, origin, "sec-fetch-site": site } = incoming.headers;
    // Browsers do not send `Sec-Fetch-Site` to a server without TLS that is not on their own machine.
    const isOtherSite = site === undefined ? origin !== undefined : site === "cross-site";
    if (isOtherSite && !outgoing.hasHeader("access-control-allow-origin"))
      throw new ApiError("origin_forbidden", {
        detail:
          "The operator has not allowed web pages of this origin to call the API. Send the request from a server.",
      });
    if (knownNames && host && !knownNames.has(new URL(`http://${host}`).hostname))
      throw new ApiError("origin_forbidden", {
        detail: "This installation has another host name. Use localhost, or ask the operator to set PUBLIC_URL.",
      });
    context.get("request").key = anonymousKey;
    return next() as Promise<undefined>;
  };
}
