<?php

require __DIR__ . '/verify-webhook.php';

/**
 * Stores a message. Returns false if the message is already stored. In production, insert
 * the message into a database table whose primary key is the message ID.
 */
function store_message(string $id, string $body): bool
{
    $path = __DIR__ . "/inbox/$id.json";
    @mkdir(dirname($path));
    // A temporary file, so that a failed write does not look like a stored message.
    $temporary = dirname($path) . '/' . bin2hex(random_bytes(16)) . '.tmp';
    try {
        if (@file_put_contents($temporary, $body) !== strlen($body)) {
            throw new RuntimeException('The message could not be stored.');
        }
        if (@link($temporary, $path)) {
            return true;
        }
        if (file_exists($path)) {
            return false;
        }
        throw new RuntimeException('The message could not be stored.');
    } finally {
        @unlink($temporary);
    }
}

function process_message(array $message): void
{
    // Your code goes here. Messages can be out of order: compare `meta.sequence`.
    error_log("Processed {$message['meta']['event']} {$message['meta']['id']}");
}

// The status if an error occurs below. The API then sends the message again later.
http_response_code(500);

$secret = getenv('PRAGMA_WEBHOOK_SECRET'); // The hmacSecret of your recipient.
if (!$secret) {
    throw new RuntimeException('PRAGMA_WEBHOOK_SECRET is not set.');
}

$body = file_get_contents('php://input'); // The raw body, because its exact bytes are signed.
try {
    verify_webhook(array_change_key_case(getallheaders(), CASE_LOWER), $body, $secret);
} catch (InvalidArgumentException $error) {
    http_response_code(401);
    exit($error->getMessage());
}

$message = json_decode($body, true);
$isNew = store_message($message['meta']['id'], $body);
http_response_code(204);
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request(); // PHP-FPM sends the response now, before the work begins.
}
if ($isNew) {
    process_message($message);
}
