// Runs the Kinesis server in memory, on the loopback interface, at a port that is free, and says at which. Ends when
// whoever started it does: its standard input is a pipe from there, which closes however that process ends.
const kinesalite = require('kinesalite');

const quick = 20; // Milliseconds that a change of a stream takes.
const server = kinesalite({
    shardLimit: 1000,
    createStreamMs: quick,
    deleteStreamMs: quick,
    updateStreamMs: quick,
});
process.stdin.on('end', () => process.exit(0)).resume();
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
