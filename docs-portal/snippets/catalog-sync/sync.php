<?php
// Usage: PRAGMA_API_KEY=… php sync.php catalog.json
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
$fileName = $argv[1] ?? 'catalog.json';

const OTHER_PATHS = [
    'payments' => '/v1/catalog/payments',
    'taxes' => '/v1/catalog/taxes',
    'modifiers' => '/v1/catalog/modifiers',
    'categories' => '/v1/catalog/categories',
];

/** The copy: the items of each list by ID, and the version of the catalog. In your program, this is a database. */
$copy = is_file($fileName)
    ? json_decode(file_get_contents($fileName), true)
    : ['version' => null, 'lists' => []];

/** Returns the items of a list and its ETag. The items are null if the list still has the known version. */
function readList(string $path, ?string $knownVersion = null): array
{
    global $baseUrl;
    $headers = ['authorization: Bearer ' . getenv('PRAGMA_API_KEY')];
    if ($knownVersion !== null) $headers[] = "if-none-match: $knownVersion";
    $context = stream_context_create(['http' => [
        'header' => $headers,
        'timeout' => 60,
        'ignore_errors' => true, // Return the body of an error response too.
    ]]);
    $body = file_get_contents("$baseUrl$path", false, $context);
    $responseHeaders = implode("\n", $http_response_header ?? []);
    $status = preg_match('/^HTTP\/\S+ (\d+)/', $responseHeaders, $match) ? (int) $match[1] : 0;
    if ($status === 304) return [null, $knownVersion];
    if ($status !== 200) throw new RuntimeException("GET $path responded $status: $body");
    preg_match('/^etag: (.+)$/im', $responseHeaders, $match);
    return [json_decode($body, true, flags: JSON_THROW_ON_ERROR), $match[1]];
}

/** Returns all lists of the same version and this version, or null if the copy has this version. */
function readCatalog(?string $knownVersion): ?array
{
    [$products, $version] = readList('/v1/catalog', $knownVersion);
    if ($products === null) return null;
    while (true) {
        $lists = ['products' => $products];
        foreach (OTHER_PATHS as $name => $path) [$lists[$name]] = readList($path);
        [$products, $newVersion] = readList('/v1/catalog', $version);
        if ($products === null) return [$lists, $version];
        $version = $newVersion; // The catalog has changed: start again.
    }
}

/** Changes a list of the copy so that it contains exactly these items. Returns a summary of the changes. */
function updateCopy(string $name, array $items): string
{
    global $copy;
    $known = $copy['lists'][$name] ?? [];
    $items = array_column($items, null, 'id');
    $changed = array_filter($items, fn ($item) => ($known[$item['id']] ?? null) !== $item);
    $removed = array_diff_key($known, $items);
    $copy['lists'][$name] = array_diff_key(array_replace($known, $changed), $removed);
    return "$name: " . count($changed) . ' added or changed, ' . count($removed) . " removed\n";
}

$catalog = readCatalog($copy['version']);
if ($catalog === null) {
    echo "The catalog has not changed.\n";
} else {
    [$lists, $copy['version']] = $catalog;
    $changes = array_map(updateCopy(...), array_keys($lists), $lists);
    // The items and their version are stored together, in one step.
    $json = json_encode($copy, JSON_THROW_ON_ERROR);
    if (file_put_contents("$fileName.new", $json) === false || !rename("$fileName.new", $fileName))
        throw new RuntimeException("The file $fileName could not be written.");
    echo implode($changes);
}
