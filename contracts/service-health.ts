import { object, z } from "zod";
import { boundedArray, field } from "./fields.ts";
import { serviceNames } from "./service-names.ts";

/** The states of a service, the worst last. */
const serviceStates = ["ok", "degraded", "failing", "unreachable"] as const;

/** More than any service checks. */
const maxChecks = 50;

export const ServiceHealth = object({
  name: z
    .enum(["gateway", ...serviceNames])
    .meta({ description: "Name of the service, or `gateway`", example: "reporting" }),
  state: z.enum(serviceStates).meta({
    description:
      "`ok` if all checks pass; `degraded` if a check fails without which the service still accepts requests; `failing` if it does not accept requests; `unreachable` if it does not respond",
    example: "degraded",
  }),
  checks: boundedArray(
    object({
      name: field.text("What is checked, such as `postgres`"),
      error: field.nullableText("Why the check fails; null if it passes"),
    }),
    maxChecks,
  ).describe("The checks of the service; empty if it is unreachable"),
}).meta({
  id: "ServiceHealth",
  description: "What an instance of a service states about itself and what it depends on",
  example: {
    name: "reporting",
    state: "degraded",
    checks: [
      { name: "postgres", error: null },
      { name: "objects", error: "The object store did not respond" },
    ],
  },
});

export type ServiceHealth = z.infer<typeof ServiceHealth>;

export const ServiceList = object({
  services: boundedArray(ServiceHealth, serviceNames.length + 1).describe("The gateway, and then the services"),
}).meta({
  id: "ServiceList",
  description: "The gateway and the services, with their health",
  example: { services: [ServiceHealth.meta()?.example] },
});

export type ServiceList = z.infer<typeof ServiceList>;
