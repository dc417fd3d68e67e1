// Runs the Kinesis server on the loopback interface, at a port that is free, and says at which. Ends when whoever
// started it does: its standard input is a pipe from there, which closes however that process ends.
const net = require('net');

// Where it would listen without encryption.
const PLAIN = 4568;

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...more) {
    if (port === PLAIN) {
        this.once('listening', () => console.log(`listening ${this.address().port}`));
    }
    return listen.call(this, 0, '127.0.0.1', ...more.filter((argument) => typeof argument === 'function'));
};
process.stdin.on('end', () => process.exit(0)).resume();
process.env.KINESIS_MOCK_CERT_PATH = require.resolve('kinesis-local/server.json');
require('kinesis-local/main.js');
