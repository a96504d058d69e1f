import { array, object, z } from "zod";
import { field } from "./fields.ts";

export const Health = object({
  status: z.literal("ok").describe("Always `ok`"),
  uptime: z.number().min(0).describe("Number of seconds since this instance of the API started"),
  docURL: field.url("URL of the documentation"),
  version: field.text("Version of the software, such as `2.0.0`. The changelog lists the changes of each version"),
  apiVersions: array(z.string()).describe("Versions of paths that this installation supports, such as `v1`"),
}).meta({
  id: "Health",
  description: "Status, uptime and versions of the API, and the URL of its documentation",
  example: {
    status: "ok",
    uptime: 86_400.5,
    docURL: "https://docs.pragma.example/docs",
    version: "2.0.0",
    apiVersions: ["v1", "v2"],
  },
});

export type Health = z.infer<typeof Health>;
