import { ApiProblem, createApiClient, nullOnProblem } from "@pragma/client";

const client = createApiClient({
  baseUrl: "http://127.0.0.1:4000",
  apiKey: process.env.PRAGMA_API_KEY ?? "",
});

// null instead of an error if the report does not exist
const id = "b1c0bff8-1e7d-7d69-b598-0790ca72e536";
const request = client.GET("/v2/reports/{id}", { params: { path: { id } } });
const found = await nullOnProblem(request, "report_not_found");
console.log(found === null ? "no such report" : found.data.totalSales);

try {
  await client.GET("/v2/reports", { params: { query: { size: 1000 } } });
} catch (error) {
  if (!(error instanceof ApiProblem)) throw error;
  console.error(error.status, error.code, error.requestId);
  for (const issue of error.issues) {
    console.error(issue.in, issue.path, issue.message);
  }
}
