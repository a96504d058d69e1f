/** A list of at most this many pages is read as a whole. */
const maxPages = 10;
const listPageSize = 100;

interface ListPage<Item> {
  data: { data: Item[]; nextPageToken: string | null };
  response: Response;
}

/** Reads the pages of a list, at most 1,000 items. `response` is that of the first page. */
export async function readAllPages<Item>(
  readPage: (page: { size: number; pageToken?: string }) => Promise<ListPage<Item>>,
): Promise<{ data: { items: Item[]; isComplete: boolean }; response: Response }> {
  const first = await readPage({ size: listPageSize });
  const items = [...first.data.data];
  let { nextPageToken } = first.data;
  for (let page = 1; nextPageToken !== null && page < maxPages; page++) {
    const { data } = await readPage({ size: listPageSize, pageToken: nextPageToken });
    items.push(...data.data);
    nextPageToken = data.nextPageToken;
  }
  return { data: { items, isComplete: nextPageToken === null }, response: first.response };
}
