import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { CallerName } from "@pragma/contracts/service-names";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { internalPrincipal, type ServiceFetch } from "./caller.ts";
import { type Environment, readConfig } from "./config.ts";
import { orAborted } from "./or-aborted.ts";
import { createRequestSigner, type RequestSigner } from "./signed-request.ts";

/** `till-ingest` is reached at TILL_INGEST_URL. */
const variableOf = (service: ServiceName) => `${service.toUpperCase().replaceAll("-", "_")}_URL`;

const serviceUrls = z.object(
  Object.fromEntries(serviceNames.map((service) => [variableOf(service), z.url({ protocol: /^https?$/ }).optional()])),
);

/** A service of another process: its URL, and what identifies this process to it. */
export interface RemoteService {
  url: string;
  sign: RequestSigner;
}

/** A question of one part of the product to another. */
export interface InternalRequest {
  from: CallerName;
  path: string;
  timeoutMs: number;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** The services of this process and, by their URLs, those of others. */
export type ServiceRegistry = ReturnType<typeof createServiceRegistry>;

export function createServiceRegistry(environment: Environment) {
  const urls = readConfig(serviceUrls, environment);
  const locals = new Map<ServiceName, ServiceFetch>();
  const remotes = new Map<string, RemoteService>();

  /**
   * Returns how a caller reaches a service of another process; undefined when none is known there.
   *
   * @throws `ConfigError` when there is no key between the two.
   */
  function remote(service: ServiceName, from: CallerName): RemoteService | undefined {
    const url = urls[variableOf(service)];
    if (url === undefined || locals.has(service)) return undefined;
    const name = `${from} ${service}`;
    const known = remotes.get(name) ?? { url, sign: createRequestSigner(environment, from, service) };
    remotes.set(name, known);
    return known;
  }

  return {
    remote,
    /** Registers a service of this process. */
    add: (service: ServiceName, fetch: ServiceFetch) => void locals.set(service, fetch),
    /** Returns the service when it runs in this process. */
    local: (service: ServiceName) => locals.get(service),
    /** Returns a service's response to a question of this product's own. Rejects when it does not come in time. */
    async ask(service: ServiceName, request: InternalRequest): Promise<Response> {
      const { from, path, timeoutMs, requestId = randomUUID(), traceparent } = request;
      const signal = AbortSignal.timeout(timeoutMs);
      const origin = "http://internal";
      const local = locals.get(service);
      if (local) {
        const caller = { principal: internalPrincipal(from, service), requestId, traceparent, origin };
        const response = local(new Request(`http://${service}${path}`, { signal }), { caller });
        // A service of this process is not cut off by a signal: it is no longer waited for.
        return orAborted(Promise.resolve(response), signal).catch((cause) => {
          throw serviceUnavailable(service, cause);
        });
      }
      const known = remote(service, from);
      if (!known) throw serviceUnavailable(service);
      const url = new URL(path, known.url);
      const target = url.pathname + url.search;
      const headers = known.sign({ method: "GET", target, requestId, traceparent, origin });
      return fetch(url, { headers, signal, redirect: "manual" }).catch((cause) => {
        throw serviceUnavailable(service, cause);
      });
    },
  };
}

/** An error that says that a service cannot be asked, and when to try again. */
export function serviceUnavailable(service: ServiceName, cause?: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: `The ${service} service cannot be reached. Nothing was done; try again in a moment.`,
    cause: cause ?? new Error(`${variableOf(service)} is not set and ${service} does not run in this process.`),
  });
}
