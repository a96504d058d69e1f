import { createApiClient } from "@pragma/client";

const client = createApiClient({
  baseUrl: "http://127.0.0.1:4000",
  apiKey: process.env.PRAGMA_API_KEY ?? "",
  retries: 2,
});

// The signal limits the total time of the call, retries and delays included.
const signal = AbortSignal.timeout(10_000);
const { data } = await client.GET("/v1/locations/own", { signal });
console.log(data.name);
