<?php
// Usage: PRAGMA_API_KEY=… php follow.php copy.json
$baseUrl = getenv('PRAGMA_URL') ?: 'http://127.0.0.1:4000';
$copyFile = $argv[1] ?? 'copy.json';

const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504];
const DELAYS = [1, 2, 4, 8, 16]; // seconds between the attempts, each plus a random time

/** Returns a response body; null if it can be missing, and is. Repeats the request after a transient error. */
function get(string $path, array $query = [], bool $canBeMissing = false): ?array
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
        if ($status === 404 && $canBeMissing) return null;
        // A response that ends early is not valid JSON.
        $value = $status === 200 ? json_decode((string) $body, true) : null;
        if ($value !== null) return $value;
        $isTransient = $status === 0 || $status === 200 || in_array($status, TRANSIENT_STATUSES);
        if (!$isTransient || $delay === null) throw new RuntimeException("GET $path responded $status: $body");
        foreach ($http_response_header as $header) {
            if (preg_match('/^retry-after: (\d+)$/i', $header, $matches)) $delay = (int) $matches[1];
        }
        usleep((int) ($delay * random_int(1_000_000, 1_500_000)));
    }
}

// The copy and the cursor of its last change, which are always stored together.
$state = is_file($copyFile)
    ? json_decode(file_get_contents($copyFile), true)
    : ['after' => null, 'reports' => [], 'orders' => []];

while (true) {
    $page = get('/v1/changes', ['types' => 'report,order', 'wait' => 25, 'after' => $state['after']]);
    foreach ($page['data'] as ['type' => $type, 'action' => $action, 'id' => $id]) {
        $current = $action === 'removed' ? null : get("/v2/{$type}s/$id", canBeMissing: true);
        // If it does not exist any more, a later entry of the feed removes it, too.
        if ($current === null) unset($state["{$type}s"][$id]);
        else $state["{$type}s"][$id] = $current;
    }
    $state['after'] = $page['nextCursor'];
    // The file is replaced at once, so that a crash leaves the previous copy with its cursor.
    file_put_contents("$copyFile.new", json_encode($state));
    rename("$copyFile.new", $copyFile);
    foreach ($page['data'] as $change) {
        echo "{$change['type']} {$change['id']}: {$change['action']}, revision {$change['revision']}\n";
    }
}
