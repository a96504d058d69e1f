<?php
// Usage: PRAGMA_API_KEY=… php totals.php 2026-05-30
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
if (!isset($argv[1])) throw new RuntimeException('Pass the date as the argument: php totals.php 2026-05-30');
$day = $argv[1];

function get(string $path, array $query = []): array
{
    global $baseUrl;
    $context = stream_context_create(['http' => [
        'header' => ['authorization: Bearer ' . getenv('PRAGMA_API_KEY')],
        'timeout' => 35,
        'ignore_errors' => true, // Return the body of an error response too.
    ]]);
    $body = file_get_contents("$baseUrl$path?" . http_build_query($query), false, $context);
    if ($body === false) throw new RuntimeException("GET $path got no response.");
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status !== 200) throw new RuntimeException("GET $path responded $status: $body");
    return json_decode($body, true);
}

$totals = [];
$sales = 0;

function &totalsOf(?string $name, string $mode): array
{
    global $totals;
    $method = "$name ($mode)";
    $totals[$method] ??= ['recorded' => 0, 'tips' => 0, 'declared' => 0];
    return $totals[$method];
}

// A day can have several reports: one for each shift.
$items = get('/v2/reports', ['since' => $day, 'until' => $day, 'size' => 100])['data'];
if ($items === []) fwrite(STDERR, "There is no report of $day.\n");
foreach ($items as $item) {
    $report = get("/v2/reports/{$item['id']}");
    $sales += $report['totalSales'];
    foreach ($report['reportRecordedPayments'] as $payment) {
        $method = &totalsOf($payment['name'], $payment['paymentMode']);
        $type = $payment['paymentType'];
        if ($type === 'payment' || $type === 'customerAccount') $method['recorded'] += $payment['totalAmount'];
        $method['tips'] += $type === 'tip' ? $payment['totalAmount'] : $payment['tipsAmount'];
    }
    foreach ($report['reportPayments'] as $payment) {
        $method = &totalsOf($payment['paymentName'], $payment['paymentMode']);
        $method['declared'] += $payment['paymentAmount'];
    }
}
unset($method);

function printRow(string $name, int ...$amounts): void
{
    $text = $name . str_repeat(' ', max(0, 34 - iconv_strlen($name, 'UTF-8'))); // Characters, not bytes.
    foreach ($amounts as $cents) {
        $euros = ($cents < 0 ? '-' : '') . '€' . number_format(abs($cents) / 100, 2);
        $text .= sprintf('%14s', $euros); // 12 characters: the euro sign has three bytes.
    }
    echo $text, "\n";
}

echo "Payment method                        Recorded        Tips    Declared\n";
foreach ($totals as $name => $method) {
    printRow($name, $method['recorded'], $method['tips'], $method['declared']);
}
$sum = fn (string $column) => array_sum(array_column($totals, $column));
printRow('Total', $sum('recorded'), $sum('tips'), $sum('declared'));
printRow('Sales', $sales);
