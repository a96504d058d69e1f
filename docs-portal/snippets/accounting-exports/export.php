<?php
// Usage: PRAGMA_API_KEY=… php export.php <accounting config ID> 2026-05-01 2026-05-31
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
[, $configId, $since, $until] = $argv;

/** Returns the body of a response. With a body, sends a POST request. */
function send(string $path, ?array $body = null): string
{
    global $baseUrl;
    $headers = ['authorization: Bearer ' . getenv('PRAGMA_API_KEY')];
    $options = ['timeout' => 60, 'ignore_errors' => true]; // Return the body of an error response too.
    if ($body !== null) {
        $options += ['method' => 'POST', 'content' => json_encode($body)];
        $headers[] = 'content-type: application/json';
        $headers[] = 'idempotency-key: ' . bin2hex(random_bytes(16));
    }
    $context = stream_context_create(['http' => $options + ['header' => $headers]]);
    $response = file_get_contents("$baseUrl$path", false, $context);
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    if ($status < 200 || $status > 299) throw new RuntimeException("$path responded $status: $response");
    return $response;
}

function get(string $path, array $query = []): array
{
    return json_decode(send("$path?" . http_build_query($query)), true);
}

$tills = [];
$query = ['since' => $since, 'until' => $until, 'size' => 100];
do {
    $page = get('/v2/reports', $query);
    foreach ($page['data'] as $item) {
        $tills[] = ['tillId' => $item['tillId'], 'accountingConfigId' => $configId, 'accountingProvider' => 'FULLL'];
    }
    $query['pageToken'] = $page['nextPageToken'];
} while ($query['pageToken'] !== null);

$exportId = json_decode(send('/v1/accounting/exports', $tills), true)['id'];
do {
    sleep(1);
    $export = get("/v1/accounting/exports/$exportId");
} while (in_array($export['state'], ['pending', 'running']));

foreach ($export['tills'] as ['tillId' => $tillId, 'failure' => $failure]) {
    if ($failure === null) continue;
    $gaps = array_column($failure['gaps'], 'message');
    $message = "Till $tillId was not exported ({$failure['code']}). {$failure['message']}";
    fwrite(STDERR, implode(' ', [$message, ...$gaps]) . "\n");
    foreach (array_merge(...array_column($failure['gaps'], 'orders')) as ['orderId' => $orderId, 'amount' => $amount]) {
        fwrite(STDERR, "  Order $orderId: $amount\n");
    }
}
foreach ($export['files'] as $file) {
    // Do not convert the character set.
    file_put_contents($file['name'], send("/v1/accounting/exports/$exportId/files/{$file['number']}"));
    echo "{$file['name']}: {$file['tills']} tills\n";
}
exit($export['state'] === 'done' ? 0 : 1);
