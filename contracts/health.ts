import { z } from "zod";

/** The response of `GET /health/`, which requires no API key. */
export const Health = z
  .object({
    status: z.literal("ok").meta({ description: "Always `ok` if the API responds" }),
    uptime: z.number().min(0).meta({ description: "Seconds since this instance started" }),
    docURL: z.url().meta({ description: "URL of the documentation" }),
    apiVersions: z.array(z.string()).meta({ description: "Supported API versions" }),
  })
  .meta({
    id: "Health",
    description: "Health of the API",
    example: { status: "ok", uptime: 86_400.5, docURL: "https://docs.pragma.example/docs", apiVersions: ["v1", "v2"] },
  });

export type Health = z.infer<typeof Health>;
