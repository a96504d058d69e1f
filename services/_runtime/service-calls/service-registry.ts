import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { InternalCallerName } from "@pragma/contracts/service-names";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { z } from "zod";
import { rejectOnAbort } from "../concurrency/reject-on-abort.ts";
import { type EnvironmentVariables, readConfig } from "../config/runtime-config.ts";
import { createInternalPrincipal, type ServiceFetch } from "../http/request-identity.ts";
import { createInternalRequestSigner, type InternalRequestSigner } from "./internal-request-signing.ts";

/** `till-ingest` is reached at TILL_INGEST_URL. */
const urlVariableName = (service: ServiceName) => `${service.toUpperCase().replaceAll("-", "_")}_URL`;

const serviceUrlsSchema = z.object(
  Object.fromEntries(
    serviceNames.map((service) => [urlVariableName(service), z.url({ protocol: /^https?$/ }).optional()]),
  ),
);

/** A service of another process: its URL, and what identifies this process to it. */
export interface RemoteService {
  url: string;
  sign: InternalRequestSigner;
}

/** A question of one part of the product to another. */
export interface InternalRequest {
  from: InternalCallerName;
  path: string;
  timeoutMs: number;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

/** The services of this process and, by their URLs, those of others. */
export type ServiceRegistry = ReturnType<typeof createServiceRegistry>;

export function createServiceRegistry(environment: EnvironmentVariables) {
  const urls = readConfig(serviceUrlsSchema, environment);
  const localServices = new Map<ServiceName, ServiceFetch>();
  const remoteServices = new Map<string, RemoteService>();

  /**
   * Returns how a caller reaches a service of another process; undefined when none is known there.
   *
   * @throws `ConfigError` when there is no key between the two.
   */
  function remote(service: ServiceName, from: InternalCallerName): RemoteService | undefined {
    const url = urls[urlVariableName(service)];
    if (url === undefined || localServices.has(service)) return undefined;
    const name = `${from} ${service}`;
    const known = remoteServices.get(name) ?? { url, sign: createInternalRequestSigner(environment, from, service) };
    remoteServices.set(name, known);
    return known;
  }

  return {
    remote,
    /** Registers a service of this process. */
    registerLocalService: (service: ServiceName, fetch: ServiceFetch) => void localServices.set(service, fetch),
    /** Returns the service when it runs in this process. */
    findLocalService: (service: ServiceName) => localServices.get(service),
    /** Returns a service's response to a question of this product's own. Rejects when it does not come in time. */
    async request(service: ServiceName, request: InternalRequest): Promise<Response> {
      const { from, path, timeoutMs, requestId = randomUUID(), traceparent } = request;
      const signal = AbortSignal.timeout(timeoutMs);
      const origin = "http://internal";
      const local = localServices.get(service);
      if (local) {
        const caller = { principal: createInternalPrincipal(from, service), requestId, traceparent, origin };
        const response = local(new Request(`http://${service}${path}`, { signal }), { caller });
        // A service of this process is not cut off by a signal: it is no longer waited for.
        return rejectOnAbort(Promise.resolve(response), signal).catch((cause) => {
          throw createServiceUnavailableError(service, cause);
        });
      }
      const known = remote(service, from);
      if (!known) throw createServiceUnavailableError(service);
      const url = new URL(path, known.url);
      const target = url.pathname + url.search;
      const headers = known.sign({ method: "GET", target, requestId, traceparent, origin });
      return fetch(url, { headers, signal, redirect: "manual" }).catch((cause) => {
        throw createServiceUnavailableError(service, cause);
      });
    },
  };
}

/** An error that says that a service cannot be asked, and when to try again. */
export function createServiceUnavailableError(service: ServiceName, cause?: unknown): ApiError {
  return new ApiError("service_unavailable", {
    detail: `The ${service} service cannot be reached. Nothing was done; try again in a moment.`,
    cause: cause ?? new Error(`${urlVariableName(service)} is not set and ${service} does not run in this process.`),
  });
}
