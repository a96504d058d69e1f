<?php
// Usage: PRAGMA_API_KEY=… php orders.php 2026-05-01 2026-05-31 orders.csv
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
if ($argc !== 4) throw new RuntimeException('Pass three arguments: php orders.php 2026-05-01 2026-05-31 orders.csv');
[, $since, $until, $fileName] = $argv;

const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504];
const DELAYS = [1, 2, 4, 8, 16]; // seconds between the attempts, each plus a random time
const MAX_DELAY = 60; // seconds

/** Returns a response body. Repeats the request after a lost connection or a transient error. */
function get(string $path, array $query): array
{
    global $baseUrl;
    $context = stream_context_create(['http' => [
        'header' => ['authorization: Bearer ' . getenv('PRAGMA_API_KEY')],
        'timeout' => 60,
        'ignore_errors' => true, // Return the body of an error response too.
    ]]);
    foreach ([...DELAYS, null] as $delay) {
        $http_response_header = [];
        $body = @file_get_contents("$baseUrl$path?" . http_build_query($query), false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0); // 0 if the connection was lost
        // A response that ends early is not valid JSON.
        $page = $status === 200 ? json_decode((string) $body, true) : null;
        if ($page !== null) return $page;
        $isTransient = $status === 0 || $status === 200 || in_array($status, TRANSIENT_STATUSES);
        if (!$isTransient || $delay === null) throw new RuntimeException("GET $path responded $status: $body");
        foreach ($http_response_header as $header) {
            if (preg_match('/^retry-after: (\d+)$/i', $header, $matches)) $delay = (int) $matches[1];
        }
        if ($delay > MAX_DELAY) throw new RuntimeException("GET $path responded $status. Try again in $delay seconds.");
        usleep((int) ($delay * random_int(1_000_000, 1_500_000)));
    }
}

/** Yields the orders of all pages. Only one page is in memory at a time. */
function orders(string $since, string $until): Generator
{
    $query = ['since' => $since, 'until' => $until, 'size' => 100];
    do {
        $page = get('/v1/orders', $query);
        foreach ($page['data'] as $order) yield $order;
        $query['pageToken'] = $page['nextPageToken'];
    } while ($query['pageToken'] !== null);
}

$orderCount = $sales = 0;
$columns = ['id', 'openedAt', 'total', 'isCanceled', 'isTransferred', 'payments'];
$file = fopen("$fileName.new", 'w');
fwrite($file, implode(',', $columns) . "\n");
foreach (orders($since, $until) as $order) {
    $orderCount++;
    if (!$order['isCanceled'] && !$order['isTransferred']) $sales += $order['total'];
    $order['payments'] = implode(';', array_map(fn ($paid) => "$paid[paymentMode]:$paid[paymentAmount]", $order['payments']));
    $values = array_map(fn ($column) => is_bool($order[$column]) ? json_encode($order[$column]) : $order[$column], $columns);
    fwrite($file, implode(',', $values) . "\n");
}
fclose($file);
rename("$fileName.new", $fileName); // The file gets its name when it is complete.
echo "$orderCount orders with sales of €" . number_format($sales / 100, 2) . "\n";
