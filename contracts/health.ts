import { z } from "zod";

/** What `/health/` answers, to anybody. */
export const Health = z
  .object({
    status: z.literal("ok").meta({ description: "Always `ok`: an API that is not up does not answer" }),
    uptime: z.number().min(0).meta({ description: "Seconds since this instance started" }),
    docURL: z.url().meta({ description: "Where the documentation is" }),
    apiVersions: z.array(z.string()).meta({ description: "The versions of the API that are served" }),
  })
  .meta({
    id: "Health",
    description: "The API is up",
    example: { status: "ok", uptime: 86_400.5, docURL: "https://docs.pragma.example/docs", apiVersions: ["v1", "v2"] },
  });

export type Health = z.infer<typeof Health>;
