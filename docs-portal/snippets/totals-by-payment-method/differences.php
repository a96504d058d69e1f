<?php
// Usage: PRAGMA_API_KEY=… php differences.php 2026-05-30
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
if (!isset($argv[1])) throw new RuntimeException('Pass the date as the argument: php differences.php 2026-05-30');
$day = $argv[1];

/** Yields the items of all pages of a list. */
function items(string $path, array $query): Generator
{
    global $baseUrl;
    $context = stream_context_create(['http' => [
        'header' => ['authorization: Bearer ' . getenv('PRAGMA_API_KEY')],
        'timeout' => 35,
        'ignore_errors' => true, // Return the body of an error response too.
    ]]);
    do {
        $url = "$baseUrl$path?" . http_build_query($query + ['size' => 100]);
        $body = file_get_contents($url, false, $context);
        if ($body === false) throw new RuntimeException("GET $path got no response.");
        $status = (int) explode(' ', $http_response_header[0])[1];
        if ($status !== 200) throw new RuntimeException("GET $path responded $status: $body");
        $page = json_decode($body, true);
        foreach ($page['data'] as $item) yield $item;
        $query['pageToken'] = $page['nextPageToken'];
    } while ($query['pageToken'] !== null);
}

foreach (items('/v2/reports', ['since' => $day, 'until' => $day]) as $report) {
    foreach (items('/v1/orders', ['reportId' => $report['id']]) as $order) {
        $sale = $order['isCanceled'] || $order['isTransferred'] ? 0 : $order['total'];
        $paid = array_sum(array_column($order['payments'], 'paymentAmount'));
        if ($paid !== $sale) echo "{$order['id']}: sale $sale, paid $paid, difference ", $paid - $sale, "\n";
    }
}
