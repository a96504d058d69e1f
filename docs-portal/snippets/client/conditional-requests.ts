import { createApiClient, NotModifiedError } from "@pragma/client";

const client = createApiClient({
  baseUrl: "http://127.0.0.1:4000",
  apiKey: process.env.PRAGMA_API_KEY ?? "",
});

const { data: products, response } = await client.GET("/v1/catalog");
console.log(`${products.length} products`);
const etag = response.headers.get("etag");

try {
  await client.GET("/v1/catalog", { headers: { "If-None-Match": etag } });
} catch (error) {
  if (!(error instanceof NotModifiedError)) throw error;
  console.log("The catalog has not changed.");
}
