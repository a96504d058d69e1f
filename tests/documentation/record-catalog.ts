import { lunchCatalog, lunchTill } from "./lunch-till.ts";
import type { PushGuideLocation } from "./push-guide-location.ts";

/** Records the replacement and the reading of a catalog, and the order rows that refer to its products. */
export async function recordCatalogExamples({ recorder }: PushGuideLocation): Promise<void> {
  const { recordExchange, sendRequest, keepIds } = recorder;
  keepIds([lunchCatalog, lunchTill]);
  const path = "/v1/catalog";
  const replace = (body: unknown, ifMatch?: string) =>
    ({
      method: "PUT",
      path,
      body,
      hasStableEtag: true,
      ...(ifMatch !== undefined && { headers: { "if-match": ifMatch } }),
    }) as const;
  const readEtag = async () => (await sendRequest({ path })).response.headers.get("etag") ?? "";

  await recordExchange("replace-catalog", replace(lunchCatalog));
  await recordExchange("replace-catalog-again", replace(lunchCatalog));
  await recordExchange("catalog-products", { path, hasStableEtag: true });
  for (const list of ["categories", "modifiers", "taxes", "payments"])
    await recordExchange(`catalog-${list}`, { path: `${path}/${list}`, hasStableEtag: true });
  const etag = await readEtag();
  await recordExchange("catalog-not-modified", { path, headers: { "if-none-match": etag }, hasStableEtag: true });

  const [product, ...otherProducts] = lunchCatalog.products;
  if (product === undefined) throw new Error("The catalog has no products.");
  const [price] = product.priceList;
  const withNewPrice = (unitPrice: number) => ({
    ...lunchCatalog,
    products: [{ ...product, priceList: [{ ...price, unitPrice }] }, ...otherProducts],
  });
  await recordExchange("replace-catalog-if-match", replace(withNewPrice(2_000), etag));
  await recordExchange("replace-catalog-outdated", replace(withNewPrice(2_100), etag));
  const unknownCategory = { ...product, categoryId: "00000000-0000-4000-8000-000000000000" };
  const unknownTax = { ...product, priceList: [{ ...price, taxRate: 1_950 }] };
  const dangling = [unknownCategory, { ...unknownTax, id: `${product.id}-2` }];
  await recordExchange("replace-catalog-invalid", replace({ ...lunchCatalog, products: dangling }));
  await recordExchange("catalog-order", { path: `/v1/orders/${lunchTill.orderList[1]?.id}` });
}
