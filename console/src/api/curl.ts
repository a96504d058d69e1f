/** Returns a shell command that sends the GET request. It reads the API key from a variable, so that nobody copies the key. */
export function formatCurl(url: string): string {
  const quotedUrl = `'${url.replaceAll("'", "'\\''")}'`;
  return `curl -H "Authorization: Bearer $PRAGMA_API_KEY" ${quotedUrl}`;
}
