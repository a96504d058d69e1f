<?php
// Usage: PRAGMA_API_KEY=… php stock.php state.json
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
$stateFile = $argv[1];

/** The last event that was processed, and the quantities that were taken from stock for each order. */
$state = is_file($stateFile)
    ? json_decode(file_get_contents($stateFile), true)
    : ['lastEventId' => '', 'orders' => []];

/** The orders that the stream has sent since it started, until it is ready. */
$initialOrderIds = null;

/** Seconds to wait before the next connection. */
$delay = 1;

/** Returns the status and the stream of a response. */
function openUrl(string $path, array $headers = []): array
{
    global $baseUrl;
    $context = stream_context_create(['http' => [
        'header' => ['authorization: Bearer ' . getenv('PRAGMA_API_KEY'), ...$headers],
        'protocol_version' => '1.0', // With HTTP/1.1, PHP buffers small chunks.
        'timeout' => 35, // Fails after 35 seconds without data.
        'ignore_errors' => true,
    ]]);
    $stream = @fopen("$baseUrl$path", 'r', false, $context);
    if ($stream === false) throw new RuntimeException('The connection failed.');
    return [(int) explode(' ', $http_response_header[0])[1], $stream];
}

/** Returns what an order takes from stock: thousandths of a unit, or grams of a product sold by weight. */
function quantitiesOf(array $order): array
{
    $quantities = [];
    if ($order['isCanceled']) return $quantities;
    $menus = array_column($order['menuRowList'], 'productRowList');
    foreach (array_merge($order['productRowList'], ...$menus) as $row) {
        $isChildOfSplit = $row['parentProductRowId'] !== null; // The original row has the whole quantity.
        $isInOtherOrder = $row['isTransferred'] && !$order['isTransferred'];
        if ($row['productId'] === null || $row['isCanceled'] || $isChildOfSplit || $isInOtherOrder) continue;
        $quantity = $row['quantity'] * (int) round(($row['weight'] ?? 1) * 1000);
        $quantities[$row['productId']] = ($quantities[$row['productId']] ?? 0) + $quantity;
    }
    return $quantities;
}

/** Changes the stock by the difference between the new quantities of an order and those that were already taken. */
function updateStock(string $orderId, array $quantities, bool $isLive): void
{
    global $state;
    $taken = $state['orders'][$orderId]['quantities'] ?? [];
    foreach (array_keys($taken + $quantities) as $productId) {
        $change = ($taken[$productId] ?? 0) - ($quantities[$productId] ?? 0);
        if ($change === 0) continue;
        echo json_encode(['productId' => (string) $productId, 'change' => $change / 1000, 'orderId' => $orderId]), "\n";
    }
    $state['orders'][$orderId] = ['isLive' => $isLive, 'quantities' => $quantities];
}

/** Updates the stock with the final state of an order. An order that is not in the report of its till takes nothing. */
function updateStockWithFinishedOrder(string $id): void
{
    [$status, $stream] = openUrl("/v2/orders/$id");
    $body = stream_get_contents($stream);
    if ($status !== 200 && $status !== 404) throw new RuntimeException("$status: $body", $status);
    updateStock($id, $status === 200 ? quantitiesOf(json_decode($body, true)) : [], false);
}

function processEvent(string $event, array $data): void
{
    global $state, $initialOrderIds;
    if ($event === 'reset') $initialOrderIds = [];
    if ($event === 'order') {
        if ($initialOrderIds !== null) $initialOrderIds[] = $data['id'];
        updateStock($data['id'], quantitiesOf($data['data']), true);
    }
    if ($event === 'left' && $data['reason'] === 'till') updateStockWithFinishedOrder($data['id']);
    if ($event === 'left' && $data['reason'] === 'training') updateStock($data['id'], [], false);
    if ($event === 'ready' && $initialOrderIds !== null) {
        // These orders left the live list while the program was not connected.
        foreach ($state['orders'] as $id => $order) {
            if ($order['isLive'] && !in_array($id, $initialOrderIds)) updateStockWithFinishedOrder($id);
        }
        $initialOrderIds = null;
    }
}

function readStream(): void
{
    global $state, $initialOrderIds, $delay;
    [$status, $stream] = openUrl('/v1/orders-live/stream', ["last-event-id: {$state['lastEventId']}"]);
    if ($status !== 200) {
        $headers = implode("\n", stream_get_meta_data($stream)['wrapper_data']);
        if (preg_match('/^retry-after: (\d+)/im', $headers, $match)) $delay = (int) $match[1];
        throw new RuntimeException("$status: " . stream_get_contents($stream), $status);
    }
    $initialOrderIds = $state['lastEventId'] === '' ? [] : null;
    [$event, $data, $id] = ['', [], $state['lastEventId']];
    while (($line = fgets($stream)) !== false) {
        $line = rtrim($line, "\n");
        if (str_starts_with($line, 'event: ')) $event = substr($line, 7);
        if (str_starts_with($line, 'data: ')) $data = json_decode(substr($line, 6), true);
        if (str_starts_with($line, 'id:')) $id = trim(substr($line, 3));
        if ($line !== '') continue;
        processEvent($event, $data);
        $event = '';
        if ($initialOrderIds === null) saveState($id);
    }
}

function saveState(string $lastEventId): void
{
    global $state, $stateFile;
    $state['lastEventId'] = $lastEventId;
    file_put_contents("$stateFile.new", json_encode($state));
    rename("$stateFile.new", $stateFile);
}

while (true) {
    $delay = 1;
    try {
        readStream();
    } catch (RuntimeException $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        if (in_array($error->getCode(), [400, 401, 403, 404])) exit(1); // The same request would fail again.
    }
    // The random time prevents all programs from reconnecting at the same moment.
    usleep($delay * random_int(1_000_000, 1_500_000));
}
