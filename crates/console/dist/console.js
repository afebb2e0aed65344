var n,t,r,u,i,f,o,e,l,c,a,s,h=Symbol.for("pv"),p={},y=[],v=/^m(i|n|o|s|text|space)$/,w=Array.isArray,d=y.slice,_=Object.assign;function g(n3){n3&&n3.parentNode&&
n3.remove()}function k(n3,t4,r4){var u4,i4,f5,o5={},e4=arguments.length;for(f5 in t4)f5=="key"?u4=t4[f5]:f5=="ref"&&typeof n3!="function"?i4=t4[f5]:o5[f5]=t4[f5];
return e4>2&&(o5.children=e4>3?d.call(arguments,2):r4),m(n3,o5,u4,i4,null)}function m(r4,u4,i4,f5,o5){var e4={type:r4,props:u4,key:i4,ref:f5,__k:null,__:null,__b:0,__e:null,__c:null,constructor:h,__v:o5||++t,__i:-1,__u:0};return!o5&&n.
vnode&&n.vnode(e4),e4}function $(n3){return n3.children}function x(n3,t4){this.props=n3,this.context=t4,this.__g=0}function S(n3,t4){if(t4==null)return n3.__&&S(n3.__,n3.__i+1);for(var r4;t4<
n3.__k.length;t4++)if((r4=n3.__k[t4])&&r4.__e)return r4.__e;return typeof n3.type!="function"||n3.props.__P?null:S(n3)}function C(t4){var r4,u4=t4.__v,i4=u4.__e,
f5=[],o5=[],e4=t4.__P;e4&&((r4=_({constructor:h},u4)).__v=u4.__v+1,n.vnode&&n.vnode(r4),z(e4,r4,u4,t4.__n,e4.namespaceURI,32&u4.__u?[i4]:null,f5,i4||S(u4),32&u4.
__u,o5),r4.__v=u4.__v,r4.__.__k[r4.__i]=r4,E(f5,r4,o5),u4.__=u4.__e=null,r4.__e!=i4&&j(r4))}function j(n3){if((n3=n3.__)&&n3.__c&&!n3.props.__P)return n3.__e=null,
n3.__k.some(function(t4){return t4&&(n3.__e=t4.__e)}),j(n3)}function L(t4){(8&t4.__g||(t4.__g|=8,u.push(t4),f++))&&i==n.debounceRendering||((i=n.debounceRendering)||
queueMicrotask)(H)}function H(){try{for(var n3,t4=1;u.length;)u.length>t4&&u.sort(o),n3=u.shift(),t4=u.length,8&n3.__g&&C(n3)}finally{(f=u.length)&&(i||queueMicrotask)(
H)}}function I(n3,t4,r4,u4,i4,f5,o5,e4,l4,c4,a5){var s4,h5,v4,w5,d5,_5,g5=u4.__k||y,k4=t4.length;for(l4=q(r4,t4,g5,l4,k4),s4=0;s4<k4;s4++)(v4=r4.__k[s4])!=null&&
(h5=~v4.__i&&g5[v4.__i]||p,v4.__i=s4,_5=z(n3,v4,h5,i4,f5,o5,e4,l4,c4,a5),w5=v4.__e,(h5.ref!=v4.ref||8&h5.__u)&&(h5.ref&&G(h5.ref,null,v4,h5),v4.ref&&a5.push(v4.
ref,v4.__c||w5,v4)),d5=d5||w5,4&v4.__u?(l4=A(v4,l4,n3,!h5.__v),h5.__e&&(h5.__e=null)):typeof v4.type=="function"&&_5!==void 0?l4=_5:w5&&(l4=w5.nextSibling),v4.__u&=
-21);return r4.__e=d5,l4}function q(n3,t4,r4,u4,i4){var f5,o5,e4,l4,c4,a5,s4,p5,y5,v4=r4.length,d5=v4,_5=0,g5=0,k4=n3.__k=Array(i4);for(f5=0;f5<i4;f5++)(o5=t4[f5])!=
null&&typeof o5!="boolean"&&typeof o5!="function"?(typeof o5!="object"||o5.constructor===String?o5=k4[f5]=m(null,o5):w(o5)?o5=k4[f5]=m($,{children:o5}):o5.constructor===
h&&o5.__b?o5=k4[f5]=m(o5.type,o5.props,o5.key,o5.ref,o5.__v):k4[f5]=o5,l4=f5+_5,o5.__=n3,o5.__b=n3.__b+1,e4=null,~(c4=o5.__i=P(o5,r4,l4,d5))&&(d5--,(e4=r4[c4])&&
(e4.__u|=2)),e4&&e4.__v?(o5.__u|=16,c4==l4-1?_5--:c4==l4+1?_5++:c4!=l4&&(c4>l4?_5--:_5++,g5=1)):(~c4||(i4>v4?_5--:i4<v4&&_5++),typeof o5.type!="function"&&(o5.__u|=
4))):k4[f5]=null;if(g5){for(a5=[],s4=[],f5=0;f5<i4;f5++)if((o5=k4[f5])&&16&o5.__u){for(_5=0,p5=a5.length;_5<p5;)a5[y5=_5+p5>>1]<o5.__i?_5=y5+1:p5=y5;a5[_5]=o5.__i,
s4[f5]=_5+1}for(_5=a5.length;f5--;)s4[f5]&&(s4[f5]==_5?_5--:k4[f5].__u|=4)}if(d5)for(f5=0;f5<v4;f5++)!(e4=r4[f5])||2&e4.__u||(e4.__e==u4&&(u4=S(e4)),J(e4,e4));return u4}
function A(n3,t4,r4,u4){var i4,f5,o5,e4;if(typeof n3.type=="function"){if(n3.props.__P)return t4;if(i4=n3.__k)for(f5=0;f5<i4.length;f5++)i4[f5]&&(i4[f5].__=n3,t4=
A(i4[f5],t4,r4,!1));return t4}for(t4&&!t4.parentNode&&(t4=S(n3))&&!t4.parentNode&&(t4=null),o5=n3.__e,e4=t4;e4&&e4.nodeType==8;)e4=e4.nextSibling;for(o5!=e4&&(!u4&&
r4.moveBefore&&o5.parentNode?r4.moveBefore(o5,t4):r4.insertBefore(o5,t4||null)),t4=o5;(t4=t4&&t4.nextSibling)&&t4.nodeType==8&&!t4.data.startsWith("$s"););return t4}function P(n3,t4,r4,u4){var i4,f5=n3.key,o5=n3.type,e4=t4[r4],l4=e4&&!(2&e4.__u);if(e4===null&&f5==null||l4&&f5==e4.key&&o5==e4.type)return r4;if(u4>(l4?1:0)){for(i4=
r4-1;i4>=0;i4--)if((e4=t4[i4])&&!(2&e4.__u)&&f5==e4.key&&o5==e4.type)return i4;for(i4=r4+1;i4<t4.length;i4++)if((e4=t4[i4])&&!(2&e4.__u)&&f5==e4.key&&o5==e4.type)
return i4}return-1}function T(n3,t4,r4){r4==null&&(r4=""),t4[0]=="-"?n3.setProperty(t4,r4):n3[t4]=r4}function N(n3,t4,r4,u4,i4){var f5,o5;if(t4=="style")if(typeof r4==
"string")n3.style.cssText=r4;else{if(typeof u4=="string"&&(n3.style.cssText=u4=""),u4)for(t4 in u4)r4&&t4 in r4||T(n3.style,t4);if(r4)for(t4 in r4)u4&&r4[t4]==u4[t4]||
T(n3.style,t4,r4[t4])}else if(t4[0]=="o"&&t4[1]=="n")typeof r4!="function"&&(r4=null),typeof u4!="function"&&(u4=null),(n3.__e||(n3.__e={}))[t4]=r4,r4&&u4||(o5=
a[t4]||(a[t4]=V(t4)),(n3.__a||(n3.__a={}))[t4]=c,f5=t4!=(t4=t4.replace(l,"$1")),(t4=t4.slice(2))[0]<"a"&&(t4=t4.toLowerCase()),r4?n3.addEventListener(t4,o5,f5):
n3.removeEventListener(t4,o5,f5));else{if(i4=="http://www.w3.org/2000/svg")t4=t4.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t4!="width"&&t4!="heig\
ht"&&t4!="href"&&t4!="list"&&t4!="form"&&t4!="tabIndex"&&t4!="download"&&t4!="rowSpan"&&t4!="colSpan"&&t4!="role"&&t4!="popover"&&t4 in n3)try{return void(n3[t4]=
r4??"")}catch{}if(typeof r4=="function")return;r4==null||r4===!1&&t4[4]!="-"?n3.removeAttribute(t4):n3.setAttribute(t4,t4=="popover"&&r4==1?"":r4)}}function V(t4){
return function(r4){var u4=this.__e;if(u4){if(u4=u4[t4],r4[e]==null)r4[e]=c++;else if(r4[e]<this.__a[t4])return;return u4(n.event?n.event(r4):r4)}}}function z(t4,r4,u4,i4,f5,o5,e4,l4,c4,a5){
var s4,p5,v4,d5,k4,b3,m5,M3,C3,j3,L2,H2,q2,A4,O2,P2,T4,N2,V2=r4.type;if(r4.constructor!==h)return null;128&u4.__u&&(c4=32&u4.__u,s4=u4.__c.__z)&&(r4.__u|=c4,p5=
o5=[],s4.nodeType==8?l4=B(s4,o5):o5.push(s4),l4=o5[0]||l4),(s4=n.__b)&&s4(r4);n:if(typeof V2=="function"){v4=e4.length;try{if(M3=r4.props,C3=(s4=V2.prototype)&&
s4.render,j3=(s4=V2.contextType)&&i4[s4.__c],L2=s4?j3?j3.props.value:s4.__:i4,(d5=u4.__c)?(r4.__c=d5,2&d5.__g&&(d5.__g|=1)):(C3?r4.__c=d5=new V2(M3,L2):(r4.__c=
d5=new x(M3,L2),d5.constructor=V2,d5.render=K),j3&&j3.sub(d5),d5.state||(d5.state={}),d5.__n=i4,d5.__g|=8,d5.__h=[],d5.__k=[]),C3&&(d5.__s||(d5.__s=d5.state),V2.
getDerivedStateFromProps&&(d5.__s==d5.state&&(d5.__s=_({},d5.__s)),_(d5.__s,V2.getDerivedStateFromProps(M3,d5.__s)))),k4=d5.props,b3=d5.state,d5.__v=r4,u4.__c){
if(M3!==k4&&C3&&!V2.getDerivedStateFromProps&&d5.componentWillReceiveProps&&d5.componentWillReceiveProps(M3,L2),r4.__v==u4.__v&&!(8&d5.__g)||!(4&d5.__g)&&d5.shouldComponentUpdate&&
d5.shouldComponentUpdate(M3,d5.__s,L2)===!1){r4.__v!=u4.__v&&(d5.props=M3,d5.state=d5.__s,d5.__g&=-9),r4.__e=u4.__e,r4.__k=u4.__k,r4.__k.some(function(n3){n3&&(n3.
__=r4)}),y.push.apply(d5.__h,d5.__k),d5.__k=[],d5.__h.length&&e4.push(d5),l4=S(u4);break n}d5.componentWillUpdate&&d5.componentWillUpdate(M3,d5.__s,L2),C3&&d5.componentDidUpdate&&
d5.__h.push(function(){d5.componentDidUpdate(k4,b3,m5)})}else C3&&!V2.getDerivedStateFromProps&&d5.componentWillMount&&d5.componentWillMount(),C3&&d5.componentDidMount&&
d5.__h.push(d5.componentDidMount);d5.context=L2,d5.props=M3,d5.__P=t4,d5.__g&=-5,H2=n.__r,q2=C3?25:0;do d5.__g&=-9,H2&&H2(r4),s4=d5.render(d5.props,d5.state=d5.
__s,d5.context);while(8&d5.__g&&++q2<25);C3&&(y.push.apply(d5.__h,d5.__k),d5.__k=[]),d5.state=d5.__s,d5.getChildContext&&(i4=_({},i4,d5.getChildContext())),C3&&
u4.__c&&d5.getSnapshotBeforeUpdate&&(m5=d5.getSnapshotBeforeUpdate(k4,b3)),A4=s4&&s4.type===$&&s4.key==null?s4.props.children:s4,M3.__P&&(s4=l4,f5=(t4=M3.__P).namespaceURI,
c4=o5=null,u4.props&&u4.props.__P!=t4&&(u4.__k.some(function(n3){n3&&J(n3,n3)}),u4.__k=null),l4=u4.__k?S(u4,0):null),l4=I(t4,w(A4)?A4:[A4],r4,u4,i4,f5,o5,e4,l4,
c4,a5),M3.__P&&(r4.__e=null,l4=s4),r4.__u&=-161,p5&&p5.some(g),d5.__h.length&&e4.push(d5),1&d5.__g&&(d5.__g&=-4)}catch(t5){if(e4.length=v4,r4.__v=null,c4||o5)if(t5&&
t5.then){if(r4.__u|=128|c4,o5){for(~(T4=o5.indexOf(l4||void 0))||(T4=o5.length);(N2=o5[T4-1])&&N2.nodeType==8;)T4--;for(;T4<o5.length;T4++)if(N2=o5[T4])if(o5[T4]=
null,O2){if(N2==P2)break}else{if(N2.nodeType!=8)break;N2.data.startsWith("$s")&&(P2=B(O2=N2))}}if(!O2){for(;l4&&l4.nodeType==8&&l4.nextSibling;)l4=l4.nextSibling;
O2=l4}(s4=B(O2=r4.__c.__z||(r4.__c.__z=O2)))?(r4.__e=O2,l4=s4):r4.__e=l4,l4=l4&&l4.nextSibling}else o5&&o5.some(g);else r4.__e=u4.__e;r4.__k||(r4.__k=u4.__k||[]),
t5&&t5.then||D(r4),n.__e(t5,r4,u4)}}else l4=r4.__e=F(u4.__e,r4,u4,i4,f5,o5,e4,c4,a5,t4);return(s4=n.diffed)&&s4(r4),l4}function B(n3,t4){if(n3&&n3.nodeType==8&&
n3.data.startsWith("$s"))for(var r4=1;n3=n3.nextSibling;){if(n3.nodeType==8){if(n3.data.startsWith("$s"))r4++;else if(n3.data.startsWith("/$s")&&!--r4)return n3}
t4&&t4.push(n3)}}function D(n3){n3&&(n3.__c&&(n3.__c.__g|=4),n3.__k&&n3.__k.some(D))}function E(t4,r4,u4){for(var i4=0;i4<u4.length;)G(u4[i4++],u4[i4++],u4[i4++]);
n.__c&&n.__c(r4,t4),t4.some(function(r5){try{t4=r5.__h,r5.__h=[],t4.some(function(n3){n3.call(r5)})}catch(t5){n.__e(t5,r5.__v)}})}function F(t4,r4,u4,i4,f5,o5,e4,l4,c4,a5){
var s4,h5,y5,_5,k4,b3,m5,M3,$2=u4.props||p,x3=r4.props,C3=r4.type;if(C3=="svg"?f5="http://www.w3.org/2000/svg":C3=="math"?f5="http://www.w3.org/1998/Math/MathML":
f5||(f5="http://www.w3.org/1999/xhtml"),o5){for(s4=0;s4<o5.length;s4++)if((k4=o5[s4])&&(C3?k4.localName==C3:k4.nodeType==3)){t4=k4,o5[s4]=null;break}}if(!t4){if(M3=
a5.ownerDocument||document,!C3)return M3.createTextNode(x3);t4=M3.createElementNS(f5,C3,x3.is?x3:a5),l4&&(n.__m&&n.__m(r4,o5),l4=!1),o5=null}if(C3){if(a5=C3=="t\
emplate"&&t4.content||t4,o5=C3=="textarea"&&x3.defaultValue!=null?null:o5&&d.call(a5.childNodes),!l4&&o5)for($2={},s4=0;s4<t4.attributes.length;s4++)$2[(k4=t4.attributes[s4]).
name]=k4.value;for(s4 in $2)k4=$2[s4],s4=="dangerouslySetInnerHTML"?y5=k4:s4=="children"||s4 in x3||s4=="value"&&"defaultValue"in x3||s4=="checked"&&"defaultChe\
cked"in x3||N(t4,s4,null,k4,f5);for(s4 in x3)k4=x3[s4],s4=="children"?_5=k4:s4=="dangerouslySetInnerHTML"?h5=k4:s4=="value"?b3=k4:s4=="checked"?m5=k4:l4&&typeof k4!=
"function"||$2[s4]===k4||N(t4,s4,k4,$2[s4],f5);h5?(l4||y5&&(h5.__html==y5.__html||h5.__html==t4.innerHTML)||(t4.innerHTML=h5.__html),r4.__k=[]):(y5&&(t4.textContent=
""),(C3=="foreignObject"||f5=="http://www.w3.org/1998/Math/MathML"&&v.test(C3))&&(f5="http://www.w3.org/1999/xhtml"),I(a5,w(_5)?_5:[_5],r4,u4,i4,f5,o5,e4,o5?o5[0]:
u4.__k&&S(u4,0),l4,c4),o5&&o5.some(g)),l4&&C3!="textarea"||(s4="value",C3=="progress"&&b3==null?t4.removeAttribute(s4):b3==null||b3===t4[s4]&&(C3!="progress"||b3)||
N(t4,s4,b3,$2[s4],f5),s4="checked",m5!=null&&m5!=t4[s4]&&N(t4,s4,m5,$2[s4],f5))}else $2===x3||l4&&t4.data==x3||(t4.data=x3);return t4}function G(t4,r4,u4,i4){try{
typeof t4=="function"?r4?r4.__x=t4(r4)||1:i4&&(i4=i4.__c||i4.__e)&&(r4=i4.__x)&&(i4.__x=null,typeof r4=="function"?r4():t4(null)):t4.current=r4}catch(t5){n.__e(
t5,u4)}}function J(t4,r4,u4){var i4,f5,o5,e4;if(n.unmount&&n.unmount(t4),!(i4=t4.ref)||i4.current&&i4.current!=t4.__e||G(i4,null,r4,t4),i4=t4.__c){if(i4.componentWillUnmount)
try{i4.componentWillUnmount()}catch(t5){n.__e(t5,r4)}i4.__P=i4.__n=null}if(i4=t4.__k)for(e4=0;e4<i4.length;e4++)i4[e4]&&J(i4[e4],r4,typeof t4.type!="function"||
u4&&!t4.props.__P);!u4&&(i4=t4.__c)&&(i4=i4.__z)&&(f5=B(i4,o5=[]))&&(i4==t4.__e&&o5.some(g),g(f5),g(i4)),u4||g(t4.__e),t4.__e=t4.__c=t4.__=null}function K(n3,t4,r4){
return this.constructor(n3,r4)}function Q(t4,r4){var u4,i4,f5,o5;n.__&&n.__(t4,r4),r4.nodeType==9&&(r4=r4.documentElement),i4=(u4=t4&&32&t4.__u)?null:r4.__k,r4.
__k=m($,{children:[t4]}),f5=[],o5=[],z(r4,r4.__k,i4||p,p,r4.namespaceURI,i4?null:r4.firstChild?d.call(r4.childNodes):null,f5,i4?i4.__e:r4.firstChild,u4,o5),E(f5,
r4.__k,o5),r4.__k.props.children=null}n={__e:function(n3,t4,r4,u4){for(var i4,o5,e4;t4=t4.__;)if((i4=t4.__c)&&!(1&i4.__g)){i4.__g|=4;try{if((e4=(o5=i4.constructor)&&o5.getDerivedStateFromError)&&i4.
setState(o5.getDerivedStateFromError(n3)),i4.componentDidCatch&&(i4.componentDidCatch(n3,u4||{}),e4=1),e4&&8&i4.__g)return void(i4.__g|=2)}catch(t5){n3=t5}}throw f=
0,n3}},t=0,r=function(n3){return n3!=null&&n3.constructor===h},x.prototype.setState=function(n3,t4){var r4=this.__s;r4&&r4!=this.state||(r4=this.__s=_({},this.state)),
typeof n3=="function"&&(n3=n3(_({},r4),this.props)),n3&&(_(r4,n3),this.__v&&(t4&&this.__k.push(t4),L(this)))},x.prototype.forceUpdate=function(n3){this.__v&&(this.
__g|=4,n3&&this.__h.push(n3),L(this))},x.prototype.render=$,u=[],f=0,o=function(n3,t4){return n3.__v.__b-t4.__v.__b},e=Symbol(),l=/(PointerCapture)$|Capture$/i,
c=0,a={},s=0;var t2,r2,u2,i2,o2=Object.is,f2=0,c2=[],e2=[],a2=n,v2=a2.__b,l2=a2.__r,m2=a2.diffed,h2=a2.__c,s2=a2.unmount,p2=a2.__;function y2(n3,t4){a2.__h&&a2.__h(r2,n3,f2||
t4),f2=0;var u4=r2.__H||(r2.__H={__:[],__h:[]});return n3>=u4.__.length&&u4.__.push({}),u4.__[n3]}function d2(n3){return f2=1,_2(G2,n3)}function _2(n3,u4,i4){var f5=y2(
t2++,2);if(f5.t=n3,!f5.__c&&(f5.__=[i4?i4(u4):G2(void 0,u4),function(n4){var t4=(f5.__N||f5.__)[0],r4=f5.t(t4,n4);o2(t4,r4)||(f5.__N=[r4,f5.__[1]],f5.__c.setState(
{}))}],f5.__c=r2,!r2.__f)){r2.__f=!0;var c4=r2.shouldComponentUpdate;r2.shouldComponentUpdate=function(n4,t4,r4){var u5=this.__H;if(!u5)return!0;var i5=!1,f6=this.
props!=n4;if(u5.__.some(function(n5){n5.__N&&(i5=!0,o2(n5.__[0],n5.__N[0])||(f6=!0))}),c4){var e4=c4.call(this,n4,t4,r4);return i5?e4||f6:e4}return!i5||f6}}return f5.
__}function A2(n3,u4){var i4=y2(t2++,3);!a2.__s&&E2(i4.__H,u4)&&(i4.__P=!0,i4.__=n3,i4.u=u4,r2.__H.__h.push(i4))}function T2(n3){return f2=5,w2(function(){return{current:n3}},[])}function w2(n3,r4){var u4=y2(t2++,7);return E2(u4.__H,r4)&&(u4.__=n3(),u4.__H=r4),u4.__}function g2(){var n3;do{for(;n3=e2.shift();)try{C2(n3)}catch(t5){a2.__e(t5,{__:(n3=n3.__P)&&n3.__v})}for(;n3=c2.shift();){var t4=n3.__H;if(n3.__P&&t4)try{t4.__h.
some(C2),t4.__h.some(D2),t4.__h=[]}catch(r4){t4.__h=[],a2.__e(r4,n3.__v)}}}while(e2.length)}a2.__b=function(n3){r2=null,v2&&v2(n3)},a2.__=function(n3,t4){n3&&t4.
__k&&t4.__k.__m&&(n3.__m=t4.__k.__m),p2&&p2(n3,t4)},a2.__r=function(n3){l2&&l2(n3),t2=0;var i4=(r2=n3.__c).__H;i4&&(u2==r2?r2.__h=[]:(i4.__h.some(C2),i4.__h.some(
D2),t2=0),i4.__h=[],i4.__.some(function(n4){n4.__N&&(n4.__=n4.__N),n4.u=n4.__N=void 0})),u2=r2},a2.diffed=function(n3){m2&&m2(n3);var t4=n3.__c;t4&&t4.__H&&(t4.
__H.__h.length&&B2(c2.push(t4)),t4.__H.__.some(function(n4){n4.u&&(n4.__H=n4.u)})),u2=r2=null},a2.__c=function(n3,t4){t4.some(function(n4){try{n4.__h.some(C2),n4.
__h=n4.__h.filter(function(n5){return!n5.__||D2(n5)})}catch(t5){n4.__h=[function(){throw t5}]}}),h2&&h2(n3,t4)},a2.unmount=function(n3){s2&&s2(n3);var t4,r4,u4=n3.
__c;u4&&u4.__H&&(u4.__H.__.some(function(u5){try{if(u5.__P&&u5.__c){if(r4===void 0){for(r4=n3.__;r4&&(!r4.__c||!r4.__c.__P);)r4=r4.__;r4=r4&&r4.__c}u5.__P=r4,B2(
e2.push(u5))}else C2(u5)}catch(n4){t4=n4}}),u4.__H=void 0,t4&&a2.__e(t4,u4.__v))};var k2=typeof requestAnimationFrame=="function";function z2(n3){var t4,r4=function(){
clearTimeout(u4),k2&&cancelAnimationFrame(t4),setTimeout(n3)},u4=setTimeout(r4,35);k2&&(t4=requestAnimationFrame(r4))}function B2(n3){n3!=1&&i2==a2.requestAnimationFrame||
((i2=a2.requestAnimationFrame)||z2)(g2)}function C2(n3){var t4=r2,u4=n3.__c;typeof u4=="function"&&(n3.__c=void 0,u4()),r2=t4}function D2(n3){var t4=r2;n3.__c=n3.
__(),r2=t4}function E2(n3,t4){return!n3||n3.length!=t4.length||t4.some(function(t5,r4){return!o2(t5,n3[r4])})}function G2(n3,t4){return typeof t4=="function"?t4(
n3):t4}var i3=Symbol.for("preact-signals");function t3(){if(v3>1)v3--;else{var i4,t4=!1;for((function(){var i5=c3;for(c3=void 0;i5!==void 0;){var t5=i5.S;if(t5.v===i5.
v)for(var r5=t5.t;r5!==void 0;r5=r5.x)r5.i===i5.i&&(r5.i=t5.i);i5=i5.o}})();h3!==void 0;){var r4=h3;for(h3=void 0,s3++;r4!==void 0;){var n3=r4.u;if(r4.u=void 0,
r4.f&=-3,!(8&r4.f)&&w3(r4))try{r4.c()}catch(r5){t4||(i4=r5,t4=!0)}r4=n3}}if(s3=0,v3--,t4)throw i4}}function r3(i4){if(v3>0)return i4();u3=++e3,v3++;try{return i4()}finally{
t3()}}var n2,o3=void 0;function f3(i4){var t4=o3,r4=n2;o3=void 0,n2=void 0;try{return i4()}finally{o3=t4,n2=r4}}var h3=void 0,v3=0,s3=0,e3=0,u3=0,c3=void 0,a3=0;
function d3(i4){if(o3!==void 0){var t4=i4.n;if(t4===void 0||t4.t!==o3)return t4={i:0,S:i4,p:o3.s,n:void 0,t:o3,e:void 0,x:void 0,r:t4},o3.s!==void 0&&(o3.s.n=t4),
o3.s=t4,i4.n=t4,32&o3.f&&i4.S(t4),t4;if(t4.i===-1)return t4.i=0,t4.n!==void 0&&(t4.n.p=t4.p,t4.p!==void 0&&(t4.p.n=t4.n),t4.p=o3.s,t4.n=void 0,o3.s.n=t4,o3.s=t4),
t4}}function l3(i4,t4){this.v=i4,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=t4?.watched,this.Z=t4?.unwatched,this.name=t4?.name}l3.prototype.brand=i3;
l3.prototype.h=function(){return!0};l3.prototype.S=function(i4){var t4=this,r4=this.t;r4!==i4&&i4.e===void 0&&(i4.x=r4,this.t=i4,r4!==void 0?r4.e=i4:f3(function(){
var i5;(i5=t4.W)==null||i5.call(t4)}))};l3.prototype.U=function(i4){var t4=this;if(this.t!==void 0){var r4=i4.e,n3=i4.x;r4!==void 0&&(r4.x=n3,i4.e=void 0),n3!==
void 0&&(n3.e=r4,i4.x=void 0),i4===this.t&&(this.t=n3,n3===void 0&&f3(function(){var i5;(i5=t4.Z)==null||i5.call(t4)}))}};l3.prototype.subscribe=function(i4){var t4=this;
return x2(function(){var r4=t4.value;f3(function(){return i4(r4)})},{name:"sub"})};l3.prototype.valueOf=function(){return this.value};l3.prototype.toString=function(){
return this.value+""};l3.prototype.toJSON=function(){return this.value};l3.prototype.peek=function(){var i4=this;return f3(function(){return i4.value})};Object.
defineProperty(l3.prototype,"value",{get:function(){var i4=d3(this);return i4!==void 0&&(i4.i=this.i),this.v},set:function(i4){if(i4!==this.v){if(s3>100)throw new Error(
"Cycle detected");(function(i5){v3!==0&&s3===0&&i5.l!==u3&&(i5.l=u3,c3={S:i5,v:i5.v,i:i5.i,o:c3})})(this),this.v=i4,this.i++,a3++,v3++;try{for(var r4=this.t;r4!==
void 0;r4=r4.x)r4.t.N()}finally{t3()}}}});function y3(i4,t4){return new l3(i4,t4)}function w3(i4){for(var t4=i4.s;t4!==void 0;t4=t4.n)if(t4.S.i!==t4.i||!t4.S.h()||
t4.S.i!==t4.i)return!0;return!1}function b(i4){for(var t4=i4.s;t4!==void 0;t4=t4.n){var r4=t4.S.n;if(r4!==void 0&&(t4.r=r4),t4.S.n=t4,t4.i=-1,t4.n===void 0){i4.
s=t4;break}}}function _3(i4){for(var t4=i4.s,r4=void 0;t4!==void 0;){var n3=t4.p;t4.i===-1?(t4.S.U(t4),n3!==void 0&&(n3.n=t4.n),t4.n!==void 0&&(t4.n.p=n3)):r4=t4,
t4.S.n=t4.r,t4.r!==void 0&&(t4.r=void 0),t4=n3}i4.s=r4}function j2(i4,t4){l3.call(this,void 0,t4),this.x=i4,this.s=void 0,this.g=a3-1,this.f=4}j2.prototype=new l3;
j2.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===a3))return!0;if(this.g=a3,this.f|=1,this.i>0&&!w3(this))return this.
f&=-2,!0;var i4=o3;try{b(this),o3=this;var t4=this.x();(16&this.f||this.v!==t4||this.i===0)&&(this.v=t4,this.f&=-17,this.i++)}catch(i5){this.v=i5,this.f|=16,this.
i++}return o3=i4,_3(this),this.f&=-2,!0};j2.prototype.S=function(i4){if(this.t===void 0){this.f|=36;for(var t4=this.s;t4!==void 0;t4=t4.n)t4.S.S(t4)}l3.prototype.
S.call(this,i4)};j2.prototype.U=function(i4){if(this.t!==void 0&&(l3.prototype.U.call(this,i4),this.t===void 0)){this.f&=-33;for(var t4=this.s;t4!==void 0;t4=t4.
n)t4.S.U(t4)}};j2.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var i4=this.t;i4!==void 0;i4=i4.x)i4.t.N()}};Object.defineProperty(j2.prototype,"value",{
get:function(){if(1&this.f)throw new Error("Cycle detected");var i4=d3(this);if(this.h(),i4!==void 0&&(i4.i=this.i),16&this.f)throw this.v;return this.v}});function O(i4,t4){
return new j2(i4,t4)}function p3(i4){var r4=i4.j;if(i4.j=void 0,typeof r4=="function"){v3++;var n3=o3;o3=void 0;try{r4()}catch(t4){throw i4.f&=-2,i4.f|=8,g3(i4),
t4}finally{o3=n3,t3()}}}function g3(i4){for(var t4=i4.s;t4!==void 0;t4=t4.n)t4.S.U(t4);i4.x=void 0,i4.s=void 0,p3(i4)}function S2(i4){if(o3!==this)throw new Error(
"Out-of-order effect");_3(this),o3=i4,this.f&=-2;try{8&this.f&&g3(this)}finally{t3()}}function m3(i4,t4){this.x=i4,this.j=void 0,this.s=void 0,this.u=void 0,this.
f=32,this.name=t4?.name,n2&&n2.push(this)}m3.prototype.c=function(){var i4=this.S();try{if(8&this.f||this.x===void 0)return;var t4=this.x();typeof t4=="function"&&
(this.j=t4)}finally{i4()}};m3.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,p3(this),b(this),v3++;var i4=o3;return o3=
this,S2.bind(this,i4)};m3.prototype.N=function(){2&this.f||(this.f|=2,this.u=h3,h3=this)};m3.prototype.d=function(){this.f|=8,1&this.f||g3(this)};m3.prototype.dispose=
function(){this.d()};function x2(i4,t4){var r4=new m3(i4,t4);try{r4.c()}catch(i5){throw r4.d(),i5}var n3=r4.d.bind(r4);return n3[Symbol.dispose]=n3,n3}var h4,d4,p4,m4=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var g4=[];x2(function(){h4=this.N})();function b2(i4,n3){n[i4]=n3.bind(null,n[i4]||function(){})}function y4(i4){if(p4){var n3=p4;p4=void 0,n3()}p4=i4&&i4.S()}function w4(i4){
var n3=this,r4=i4.data,t4=useSignal(r4);t4.name="ReactiveDom",t4.value=r4;var e4=w2(function(){for(var i5=n3,r5=n3.__v;r5=r5.__;)if(r5.__c){r5.__c.__$f|=4;break}
var o5=O(function(){var i6=t4.value.value;return i6===0?0:i6===!0?"":i6||""}),e5=O(function(){return!Array.isArray(o5.value)&&!r(o5.value)}),u5=x2(function(){if(this.
N=M,e5.value){var n4=o5.value;i5.__v&&i5.__v.__e&&i5.__v.__e.nodeType===3&&(i5.__v.__e.data=n4)}}),c5=n3.__$u.d;return n3.__$u.d=function(){u5(),c5.call(this)},
[e5,o5]},[]),u4=e4[0],c4=e4[1];return u4.value?c4.peek():c4.value}w4.displayName="ReactiveTextNode";Object.defineProperties(l3.prototype,{constructor:{configurable:!0,
value:k($,null).constructor},type:{configurable:!0,value:w4},props:{configurable:!0,get:function(){var i4=this;return{data:{get value(){return i4.value}}}}},__b:{
configurable:!0,value:1}});b2("__b",function(i4,n3){if(y4(),d4=void 0,typeof n3.type=="string"){var r4,t4=n3.props;for(var f5 in t4)if(f5!=="children"){var o5=t4[f5];
o5 instanceof l3&&(r4||(n3.__np=r4={}),r4[f5]=o5,t4[f5]=o5.peek())}}i4(n3)});b2("__r",function(i4,r4){if(i4(r4),r4.type!==$){y4();var t4,f5=r4.__c;f5&&(f5.__$f&=
-2,(t4=f5.__$u)===void 0&&(f5.__$u=t4=(function(i5,n3){var r5;return x2(function(){r5=this},{name:n3}),r5.c=i5,r5})((function(i5){return function(){var n3;m4&&((n3=
this.y)==null||n3.call(this)),i5.__$f|=1,i5.setState({})}})(f5),typeof r4.type=="function"?r4.type.displayName||r4.type.name:""))),d4=f5,y4(t4)}});b2("__e",function(i4,n3,r4,t4){
y4(),d4=void 0,i4(n3,r4,t4)});b2("diffed",function(i4,n3){y4(),d4=void 0;var r4;if(typeof n3.type=="string"&&(r4=n3.__e)){var t4=n3.__np,f5=n3.props,o5=r4.U;if(o5)
for(var e4 in o5){var u4=o5[e4];u4===void 0||t4&&e4 in t4||(u4.d(),o5[e4]=void 0)}if(t4){o5||(o5={},r4.U=o5);for(var a5 in t4){var c4=o5[a5],v4=t4[a5];c4===void 0?
(c4=k3(r4,a5,v4,f5),o5[a5]=c4):c4.o(v4,f5)}}}i4(n3)});function k3(i4,n3,r4,t4){var f5=n3 in i4&&i4.ownerSVGElement===void 0,o5=y3(r4);return{o:function(i5,n4){o5.
value=i5,t4=n4},d:x2(function(){this.N=M;var r5=o5.value.value;t4[n3]!==r5&&(t4[n3]=r5,f5?i4[n3]=r5:r5!=null&&(r5!==!1||n3[4]==="-")?i4.setAttribute(n3,r5):i4.removeAttribute(
n3))})}}b2("unmount",function(i4,n3){if(typeof n3.type=="string"){var r4=n3.__e;if(r4){var t4=r4.U;if(t4){r4.U=void 0;for(var f5 in t4){var o5=t4[f5];o5&&o5.d()}}}
var e4=n3.__np;if(e4){var u4=n3.props;for(var a5 in e4)u4[a5]=e4[a5]}n3.__np=void 0}else{var c4=n3.__c;if(c4){c4.__$f|=8;var v4=c4.__$u;v4&&(c4.__$u=void 0,v4.d())}}
i4(n3)});b2("__h",function(i4,n3,r4,t4){t4<3&&(n3.__$f|=2),i4(n3,r4,t4)});x.prototype.shouldComponentUpdate=function(i4,n3){if(this.__R)return!0;var r4=this.__$u,
t4=r4&&r4.s!==void 0;for(var f5 in n3)return!0;if(this.__f||typeof this.u=="boolean"&&this.u===!0){var o5=2&this.__$f;if(!(t4||o5||4&this.__$f)||1&this.__$f)return!0}else if(!(t4||
4&this.__$f)||3&this.__$f)return!0;for(var e4 in i4)if(e4!=="__source"&&i4[e4]!==this.props[e4])return!0;for(var u4 in this.props)if(!(u4 in i4))return!0;return!1};
function useSignal(i4,n3){return w2(function(){return y3(i4,n3)},[])}var A3=function(i4){queueMicrotask(function(){queueMicrotask(i4)})};function F2(){r3(function(){for(var i4;i4=g4.shift();)h4.call(i4)})}function M(){g4.push(this)===1&&(n.requestAnimationFrame||A3)(F2)}var ended=y3(!1),Failure=class extends Error{constructor(status,message,body={}){super(message);this.status=status;this.body=body}status;body;get kind(){return this.
body?.cause??""}get problems(){return this.body?.problems??[]}};async function ask(method,path,body,options={}){let headers={"X-Tollgate-Console":"1",...options.
headers};options.byItself&&(headers["X-Tollgate-Idle"]="1");let content;body!==void 0&&(headers["Content-Type"]="application/json",content=typeof body=="string"?
body:JSON.stringify(body));let response;try{response=await fetch(`api/${path}`,{method,headers,body:content,signal:options.signal,credentials:"same-origin",cache:"\
no-store"})}catch(error){throw options.signal?.aborted?error:new Failure(0,"The gateway does not answer. It may be restarting, or the connection is down.")}let text=await response.
text(),value=text;try{value=JSON.parse(text)}catch{}if(response.ok)return{value,etag:response.headers.get("etag")};let failure=new Failure(response.status,words(
response.status,value),value);throw failure.kind==="signed_out"&&path!=="session"&&(ended.value=!0),failure}async function call(method,path,body,options){return(await ask(
method,path,body,options)).value}var get=(path,options)=>call("GET",path,void 0,options);function words(status,value){if(typeof value=="object"&&value){let said2=value.
message??value.error;if(typeof said2=="string"&&said2)return said2}return typeof value=="string"&&value.trim()&&value.length<200?value.trim():`The gateway answe\
red with status ${status}.`}function query(members){let pairs=Object.entries(members).filter(([,value])=>value!=null&&value!=="");return pairs.length?`?${new URLSearchParams(
pairs.map(([name,value])=>[name,String(value)]))}`:""}var segment=text=>encodeURIComponent(text);var COUNTS=new Set(["requests","ok","client_errors","server_errors","refused","upstream_errors","timeouts","request_bytes","response_bytes"]),COLUMNS=[...COUNTS,
"in_flight","upstream_p50_us","upstream_p90_us","upstream_p99_us","gateway_p50_us","gateway_p90_us","gateway_p99_us"],SPAN_S=3600,SERIES_MAX=200,now=y3(null),totals=y3(
empty("")),apis=new Map,marks=y3([]),tick=y3(0),state=y3({kind:"starting",words:"",since:Date.now()}),ends=y3({upstream:3e7,gateway:2e6}),tailFilters=y3(null),tailListeners=new Set,
changeListeners=new Set;function empty(name){return{name,times:[],columns:Object.fromEntries(COLUMNS.map(column=>[column,[]]))}}var source=null,retry,nodes="all";async function start(){
if(stop(),!document.hidden){try{let past=await get(`history${query({apis:50,nodes})}`,{byItself:!0});read(past)}catch(failure){if(!(failure instanceof Failure)||
ended.value)return;if(failure.status===404||failure.status===400){state.value={kind:"off",words:failure.message,since:Date.now()};return}lost(failure.message);return}
follow()}}function stop(){clearTimeout(retry),source?.close(),source=null}function follow(){let filters=tailFilters.value,topics=filters?"live,tail,changes":"li\
ve,changes";source=new EventSource(`api/stream${query({topics,nodes,idle:1,...filters})}`),source.addEventListener("live",event=>sample(JSON.parse(event.data))),
source.addEventListener("tail",event=>{let data2=JSON.parse(event.data);tailListeners.forEach(listener=>listener(data2))}),source.addEventListener("changes",event=>{
let data2=JSON.parse(event.data);["restart","config","config_failed"].includes(data2.kind)&&(marks.value=[...marks.value,data2]),changeListeners.forEach(listener=>listener(
data2))}),source.onerror=()=>{stop(),lost("The gateway does not answer.")}}function lost(words2){state.value.kind!=="lost"&&(state.value={kind:"lost",words:words2,
since:Date.now()}),clearTimeout(retry),retry=setTimeout(()=>{get("session",{byItself:!0}).then(start,failure=>{failure.kind==="signed_out"?ended.value=!0:lost(failure.
message)})},2e3)}function read(past){let{from_unix_s:from,step_s:step,samples}=past;ends.value={upstream:past.upstream_bounds_us?.at(-1)??3e7,gateway:past.gateway_bounds_us?.
at(-1)??2e6};let times=Array.from({length:samples},(_5,at)=>from+(at+1)*step),series=(name,columns)=>({name,times:[...times],columns:Object.fromEntries(COLUMNS.
map(column=>[column,(columns[column]??times.map(()=>null)).map(value=>value==null?null:COUNTS.has(column)?value/step:value)]))});totals.value=series("",past.totals),
apis.clear();for(let api of past.apis??[])apis.set(api.api_id,series(api.name,api));marks.value=past.marks??[],tick.value+=1}function sample(data2){now.value=data2;
let time=data2.unix_ms/1e3,grown=totals.value;append(grown,time,data2.seconds,data2.totals),totals.value={...grown};let named=new Set;for(let api of data2.apis){
named.add(api.api_id);let series=apis.get(api.api_id);if(!series){if(apis.size>=SERIES_MAX)continue;apis.set(api.api_id,series=empty(api.name))}append(series,time,
data2.seconds,api)}let quiet=data2.apis.length<50?0:null;for(let[id,series]of apis)named.has(id)||append(series,time,data2.seconds,null,quiet);state.value={kind:"\
live",words:"",since:Date.now()},tick.value+=1}function append(series,time,seconds,from,absent=null){series.times.push(time);for(let column of COLUMNS){let value=from?
from[column]??null:COUNTS.has(column)||column==="in_flight"?absent:null;series.columns[column].push(value==null?null:COUNTS.has(column)?value/seconds:value)}let old=0;
for(;old<series.times.length&&series.times[old]<time-SPAN_S;)old+=1;if(old>60){series.times.splice(0,old);for(let column of COLUMNS)series.columns[column].splice(
0,old)}}document.addEventListener("visibilitychange",()=>{document.hidden?stop():!ended.value&&state.value.kind!=="starting"&&start()});tailFilters.subscribe(()=>{
source&&(stop(),follow())});function latest(series,column,seconds=10){if(!series)return null;let values=series.columns[column],last3=series.times.at(-1)??0,sum=0,
number=0;for(let at=values.length-1;at>=0&&series.times[at]>last3-seconds;at-=1){let value=values[at];value!=null&&(sum+=value,number+=1)}return number?sum/number:
null}function highest(series,column,seconds=60){if(!series)return null;let values=series.columns[column],last3=series.times.at(-1)??0,found=null;for(let at=values.
length-1;at>=0&&series.times[at]>last3-seconds;at-=1){let value=values[at];value!=null&&(found==null||value>found)&&(found=value)}return found}function lastSeen(series,column="\
requests"){if(!series)return null;let values=series.columns[column];for(let at=values.length-1;at>=0;at-=1)if((values[at]??0)>0)return series.times[at];return null}var session=y3(null),door=y3(null),silent=y3(null),RANK={viewer:0,editor:1,admin:2},may=role=>RANK[session.value?.role??"viewer"]>=RANK[role];async function load(){
try{enter(await get("session"))}catch(failure){session.value=null,failure instanceof Failure&&failure.status===401?door.value=failure.body:silent.value=failure.
message}}function enter(found){silent.value=null,ended.value=!1,session.value=found}async function signIn(body){enter(await call("POST","session",body))}async function signOut(){
try{await call("DELETE","session")}finally{location.reload()}}var UNKNOWN="-",utc=y3(localStorage.getItem("utc")==="yes");utc.subscribe(yes=>localStorage.setItem("utc",yes?"yes":"no"));var grouped=new Intl.NumberFormat("en\
-US",{maximumFractionDigits:0});function count(value){return value==null?UNKNOWN:grouped.format(value)}function rate(value){return value==null?UNKNOWN:value===0?
"0":value<.01?"<0.01":value<1?value.toFixed(2):value<10?value.toFixed(1):grouped.format(value)}function percent(value){return value==null?UNKNOWN:value===0?"0 %":
value<.001?"<0.1 %":`${value<.1?(value*100).toFixed(1):Math.round(value*100)} %`}function duration(us){return us==null?UNKNOWN:us===0?"0":us<1?`${Math.round(us*
1e3)} ns`:us<1e3?`${digits(us)} us`:us<1e6?`${digits(us/1e3)} ms`:us<6e7?`${digits(us/1e6)} s`:span(us/1e6)}function percentile(us,end){if(us==null)return UNKNOWN;
if(us>=end)return`> ${duration(end)}`;let two2=us<=0?0:Number(us.toPrecision(2));return`~${duration(two2)}`}function digits(value){return value>=99.5?grouped.format(
value):String(Number(value.toPrecision((value>=9.95,2))))}function bytes(value){if(value==null)return UNKNOWN;let units=["B","KiB","MiB","GiB","TiB"],at=0,rest=value;
for(;rest>=1024&&at<units.length-1;)rest/=1024,at+=1;return`${at&&rest<10?rest.toFixed(1):Math.round(rest)} ${units[at]}`}function span(seconds){let whole=Math.
max(0,Math.round(seconds)),parts2=[[Math.floor(whole/86400),"d"],[Math.floor(whole/3600)%24,"h"],[Math.floor(whole/60)%60,"min"],[whole%60,"s"]],first=parts2.findIndex(
([amount])=>amount>0);return first<0?"0 s":parts2.slice(first,first+(first===0&&parts2[0][0]>9?1:2)).filter(([amount])=>amount>0).map(([amount,unit])=>`${amount}\
 ${unit}`).join(" ")}var two=value=>String(value).padStart(2,"0");function parts(unixS){let date2=new Date(unixS*1e3);return utc.value?{y:date2.getUTCFullYear(),
mo:date2.getUTCMonth()+1,d:date2.getUTCDate(),h:date2.getUTCHours(),mi:date2.getUTCMinutes(),s:date2.getUTCSeconds()}:{y:date2.getFullYear(),mo:date2.getMonth()+
1,d:date2.getDate(),h:date2.getHours(),mi:date2.getMinutes(),s:date2.getSeconds()}}function offset(unixS=Date.now()/1e3){if(utc.value)return"UTC";let minutes=-new Date(
unixS*1e3).getTimezoneOffset();return`${minutes<0?"-":"+"}${two(Math.floor(Math.abs(minutes)/60))}:${two(Math.abs(minutes)%60)}`}function clock(unixS,seconds=!1){
if(unixS==null)return UNKNOWN;let{h:h5,mi,s:s4}=parts(unixS);return`${two(h5)}:${two(mi)}${seconds?`:${two(s4)}`:""}`}function date(unixS){if(unixS==null)return UNKNOWN;
let{y:y5,mo,d:d5}=parts(unixS);return`${y5}-${two(mo)}-${two(d5)}`}function moment(unixS,seconds=!1){return unixS==null?UNKNOWN:date(Date.now()/1e3)===date(unixS)?
clock(unixS,!0):`${date(unixS)} ${clock(unixS,seconds)}`}function full(unixS){return unixS==null?UNKNOWN:`${date(unixS)} ${clock(unixS,!0)} ${offset(unixS)}`}function ago(unixS){
if(unixS==null)return UNKNOWN;let seconds=Date.now()/1e3-unixS;if(Math.abs(seconds)<1)return"now";let text=span(Math.abs(seconds)).split(" ").slice(0,2).join(" ");
return seconds<0?`in ${text}`:`${text} ago`}function visible(text){return String(text??"").replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
character=>`⟨${character.charCodeAt(0).toString(16).padStart(2,"0").toUpperCase()}⟩`)}var f4=Symbol.for("pv"),o4=0;function a4(t4,e4,n3,u4,a5,i4){e4||(e4={});var c4,l4,p5=e4;if("ref"in p5&&typeof t4!="function")for(l4 in p5={},e4)l4=="ref"?c4=e4[l4]:p5[l4]=e4[l4];var s4={type:t4,
props:p5,key:n3,ref:c4,__k:null,__:null,__b:0,__e:null,__c:null,constructor:f4,__v:--o4,__i:-1,__u:0};return(a5||i4)&&(s4.__source=a5,s4.__self=i4),n.vnode&&n.vnode(
s4),s4}var PATHS={overview:"M2 9l3-4 3 3 3-5 3 4M2 13.5h12",api:"M2 4.5h12M2 8h12M2 11.5h12M5 3v3M10 6.5v3M7 10v3",key:"M10.5 2a3.5 3.5 0 1 1-2.6 5.9L2.5 13.3h2.7v-2h2\
v-2M11 5.4v.1",policy:"M8 1.7l5.2 2v4.1c0 3.2-2.2 5.4-5.2 6.5-3-1.1-5.2-3.3-5.2-6.5v-4.1zM5.8 8l1.6 1.6 2.9-3.1",client:"M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 \
8 8zM2.8 14c.4-2.6 2.4-4 5.2-4s4.8 1.4 5.2 4",certificate:"M3 2.5h10v7H3zM5 5h6M5 7h3M10.5 9.5v4.5l-1.5-1-1.5 1V9.5",usage:"M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6\
M13.5 13.5v-11",tail:"M2 3.5h8M2 7h12M2 10.5h9M2 14h5",system:"M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.1M5 11.3h.1M8 4.8h3M8 11.3h3",search:"M7 12A5 5 0 1\
 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14",close:"M3.5 3.5l9 9M12.5 3.5l-9 9",menu:"M2 4h12M2 8h12M2 12h12",plus:"M8 3v10M3 8h10",sun:"M8 10.8a2.8 2.8 0 1 0 0-5.6 \
2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.900.9M11.7 11.7l.900.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",moon:"M13 9.7A5.6 5.6 0 0 1 6.3 3a\
5.6 5.6 0 1 0 6.7 6.7z",alert:"M8 2L1.8 13.2h12.4zM8 6.2v3.3M8 11.4v.1",ok:"M3 8.5l3.2 3.2L13 4.8",info:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.3v3.7M8 5v.1",right:"\
M6 3.5L10.5 8 6 12.5",down:"M3.5 6L8 10.5 12.5 6",up:"M3.5 10L8 5.5 12.5 10",copy:"M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",edit:"M10.5 2.8l2.7 2.7L6 12.7l-3.300.60\
0.6-3.3z",play:"M4.5 2.8l8.5 5.2-8.5 5.2z",pause:"M5 3v10M11 3v10",trash:"M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9",clock:"M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 1\
2zM8 4.8V8l2.3 1.5",undo:"M6 3L2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",redo:"M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",out:"M6.5 2.5h-4v11h4M10 5\
l3 3-3 3M13 8H6",table:"M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 3v10",download:"M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",more:"M3 8h.1M8 8h.1M13 8h.1",refresh:"\
M13 8a5 5 0 1 1-1.5-3.6L13.5 6M13.5 2.5V6H10"};function Icon({name}){return a4("svg",{class:"icon",viewBox:"0 0 16 16","aria-hidden":"true",focusable:"false",children:a4(
"path",{d:PATHS[name]})})}function Logo(){return a4("svg",{class:"logo",viewBox:"0 0 16 16","aria-hidden":"true",children:[a4("rect",{width:"16",height:"16",rx:"\
3"}),a4("path",{d:"M3.5 12.5V6.5M12.5 12.5V6.5M2.5 6h11M8 6v2.5"})]})}var SHOWN_MAX=4,SHOWN_MS=6e3,said=y3([]),last=0;function say(tone,words2){let id=++last;said.value=[...said.value,{id,tone,words:words2}].slice(-SHOWN_MAX),tone===
"ok"&&setTimeout(()=>drop(id),SHOWN_MS)}function drop(id){said.value=said.value.filter(one=>one.id!==id)}function Toasts(){return a4("div",{class:"toasts","aria\
-live":"polite",children:said.value.map(one=>a4("div",{class:`toast ${one.tone}`,children:[a4(Icon,{name:one.tone==="ok"?"ok":"alert"}),a4("div",{children:one.words}),
a4("button",{type:"button","aria-label":"Dismiss",onClick:()=>drop(one.id),children:a4(Icon,{name:"close"})})]},one.id))})}function Badge({tone,children,title}){return a4("span",{class:`badge ${tone}`,title,children})}function Button({icon,children,kind="plain",...rest}){return a4("\
button",{type:"button",...rest,class:`button ${kind} ${children?"":"square"} ${rest.class??""}`,children:[icon&&a4(Icon,{name:icon}),children]})}function LinkButton({
icon,children,kind="plain",...rest}){return a4("a",{...rest,class:`button ${kind} ${rest.class??""}`,children:[icon&&a4(Icon,{name:icon}),children]})}function Panel({
title,note,actions,children,class:classes="",id}){return a4("section",{class:`panel ${classes}`,id,children:[title&&a4("header",{children:[a4("h2",{children:[title,
note&&a4("small",{children:note})]}),actions&&a4("div",{class:"actions",children:actions})]}),children]})}function Ago({at}){let[,again]=d2(0);return A2(()=>{let timer=setInterval(
()=>again(turn=>turn+1),1e4);return()=>clearInterval(timer)},[]),at?a4("time",{title:full(at),children:ago(at)}):a4($,{children:UNKNOWN})}function Text({children,
mono}){let text=visible(children);return a4("bdi",{class:mono?"mono":void 0,children:text})}async function copy(text,what="Copied"){try{await navigator.clipboard.
writeText(text),say("ok",`${what}.`)}catch{say("bad","The browser does not allow copying here. Select the text and copy it by hand.")}}function Copy({text,label="\
Copy"}){return a4(Button,{icon:"copy",kind:"quiet","aria-label":label,title:label,onClick:()=>{copy(text)}})}function Empty({icon="info",title,children}){return a4(
"div",{class:"empty",children:[a4(Icon,{name:icon}),a4("strong",{children:title}),children&&a4("div",{children})]})}function ErrorBox({failure,retry:retry2,since}){
let words2=failure instanceof Error?failure.message:String(failure),role=failure instanceof Failure&&failure.kind==="role";return a4("div",{class:`note ${role?"\
warn":"bad"}`,role:"alert",children:[a4(Icon,{name:"alert"}),a4("div",{children:[a4(Text,{children:words2}),since&&a4($,{children:[" Shown is the state of ",a4(
Ago,{at:since}),"."]})]}),retry2&&a4(Button,{icon:"refresh",onClick:retry2,children:"Retry"})]})}function Note({tone="muted",icon="info",children,actions}){return a4(
"div",{class:`note ${tone}`,children:[a4(Icon,{name:icon}),a4("div",{children}),actions]})}function Field({label,hint,error,children,wide}){return a4("label",{class:`field ${wide?"wide":""} ${error?"invalid":""}`,children:[a4("span",{children:label}),
children,error?a4("em",{class:"bad",role:"alert",children:error}):hint?a4("em",{children:hint}):null]})}function Waiting({on:on2}){return on2?a4("div",{class:"waiting",role:"progressbar","aria-label":"Loading"}):null}function SignIn(){let at=door.value,[bySecret,setBySecret]=d2(null),[user,setUser]=d2(""),[word,setWord]=d2(""),[busy,setBusy]=d2(!1),[refused,setRefused]=d2(null),
[wait,setWait]=d2(0);A2(()=>{if(wait<=0)return;let timer=setTimeout(()=>setWait(wait-1),1e3);return()=>clearTimeout(timer)},[wait]);let secret=bySecret??!at?.users;
return a4("main",{class:"sign-in",children:[a4("form",{class:"panel",onSubmit:async event=>{if(event.preventDefault(),!(wait>0||busy)){setBusy(!0),setRefused(null);
try{await signIn(secret?{secret:word}:{user,password:word})}catch(failure){setWord(""),failure instanceof Failure&&failure.status===429&&setWait(Math.max(1,Math.
ceil(failure.body.wait_s??1)));let left=failure instanceof Failure?failure.body.tries_left:void 0;setRefused(failure.message+(typeof left=="number"&&left<=3?` ${left}\
 ${left===1?"try":"tries"} left before a wait.`:""))}finally{setBusy(!1)}}},children:[a4("h1",{children:[a4(Logo,{}),"Tollgate"]}),silent.value&&a4(Note,{tone:"\
bad",icon:"alert",actions:a4(Button,{onClick:()=>{load()},children:"Retry"}),children:silent.value}),ended.value&&!refused&&a4(Note,{children:"Your session has \
ended. Sign in to go on where you were."}),at?.insecure?a4($,{children:[a4(Note,{tone:"warn",icon:"alert",children:"This connection is not encrypted, so the sec\
ret could be read on its way. Open a tunnel, then the console on your own machine:"}),a4("pre",{class:"line",children:[a4("code",{children:at.ssh}),at.ssh&&a4(Copy,
{text:at.ssh,label:"Copy the command"})]})]}):a4($,{children:[!secret&&a4("label",{class:"field",children:[a4("span",{children:"Name"}),a4("input",{name:"user",
autocomplete:"username",autofocus:!0,required:!0,value:user,onInput:event=>setUser(event.currentTarget.value)})]}),a4("label",{class:"field",children:[a4("span",
{children:secret?"Control secret":"Password"}),a4("input",{name:"password",type:"password",autocomplete:"current-password",autofocus:secret,required:!0,value:word,
onInput:event=>setWord(event.currentTarget.value)}),secret&&a4("em",{children:at?.secret_file?a4($,{children:["It is in ",a4("code",{children:at.secret_file}),"\
 on the gateway's machine."]}):a4($,{children:["It is the ",a4("code",{children:"secret"})," of the gateway's configuration, or ",a4("code",{children:"TYK_GW_SE\
CRET"}),"."]})})]}),refused&&a4("p",{class:"refused bad",role:"alert",children:refused}),a4(Button,{kind:"primary",type:"submit",disabled:busy||wait>0,children:wait>
0?`Wait ${wait} s`:busy?"Signing in":"Sign in"}),at?.users&&a4("button",{type:"button",class:"as-link",onClick:()=>{setBySecret(!secret),setWord(""),setRefused(
null)},children:secret?"Sign in with a name":"Sign in with the control secret"})]})]}),a4("p",{class:"version",children:at?.version?`Version ${at.version}`:""})]})}function parse(){let[path="",rest=""]=location.hash.replace(/^#\/?/,"").split("?",2);return{parts:path.split("/").filter(Boolean).map(part=>{try{return decodeURIComponent(
part)}catch{return part}}),query:new URLSearchParams(rest)}}var route=y3(parse()),guard=y3(null),shown=location.hash;addEventListener("hashchange",()=>{if(location.
hash!==shown){if(guard.value&&!guard.value()){history.replaceState(null,"",shown||"#/");return}guard.value=null,shown=location.hash,route.value=parse(),scrollTo(
0,0)}});function link(parts2,members={}){let pairs=Object.entries(members).filter(([,value])=>value);return`#/${parts2.map(encodeURIComponent).join("/")}${pairs.
length?`?${new URLSearchParams(pairs)}`:""}`}function go(to){location.hash=to.replace(/^#/,"")}function refine(members){let{parts:parts2,query:query3}=route.peek(),
merged={...Object.fromEntries(query3),...members};shown=link(parts2,merged),history.replaceState(null,"",shown),route.value=parse()}function Dialog({title,close,children,footer,wide,side}){let element=T2(null);return A2(()=>{let dialog=element.current;if(!dialog)return;let before=document.activeElement;
return dialog.showModal(),()=>{dialog.close(),before?.focus?.()}},[]),a4("dialog",{ref:element,class:`${wide?"wide":""} ${side?"side":""}`,"aria-label":typeof title==
"string"?title:void 0,onCancel:event=>{event.preventDefault(),close()},onMouseDown:event=>{event.target===element.current&&close()},children:a4("div",{class:"di\
alog",children:[a4("header",{children:[a4("h2",{children:title}),a4(Button,{icon:"close",kind:"quiet","aria-label":"Close",onClick:close})]}),a4("div",{class:"c\
ontent",children}),footer&&a4("footer",{children:footer})]})})}function useLoaded(fetch2,depends){let[state2,set2]=d2({value:null,failure:null,waiting:!0,at:null}),[turn,again]=d2(0),first=T2(depends[0]);return A2(()=>{let gone=!1;
return first.current!==depends[0]&&(first.current=depends[0],set2({value:null,failure:null,waiting:!0,at:null})),fetch2().then(value=>{gone||set2({value,failure:null,
waiting:!1,at:Date.now()/1e3})},failure=>{gone||set2(old=>({...old,failure,waiting:!1}))}),()=>{gone=!0}},[...depends,turn]),{...state2,again:()=>again(old=>old+
1),replace:value=>set2({value,failure:null,waiting:!1,at:Date.now()/1e3})}}function read2(text){let at=0,fail=message=>{throw{at,message}},space=()=>{for(;at<text.length&&/[ \t\r\n]/.test(text[at]);)at+=1},string=()=>{let from=at;for(at+=
1;at<text.length&&text[at]!=='"';)text[at]<" "&&fail("a control character or the end of the line stands inside a text; a quote may be missing"),at+=text[at]==="\
\\"?2:1;at>=text.length&&fail("a text does not end"),at+=1;try{return JSON.parse(text.slice(from,at))}catch{return at=from,fail("a text has an unknown escape")}},
value=depth=>{space();let from=at,first=text[at];if(depth>200&&fail("the document is nested too deeply"),first==="{"){let members=[];if(at+=1,space(),text[at]===
"}")return at+=1,{kind:"object",from,to:at,members};for(;;){space();let start2=at;text[at]!=='"'&&fail("a name in quotes is expected here");let name=string();if(space(),
text[at]!==":"&&fail("a colon is missing"),at+=1,members.push({name,from:start2,value:value(depth+1)}),space(),text[at]===","){at+=1;continue}if(text[at]==="}")
return at+=1,{kind:"object",from,to:at,members};fail(at>=text.length?"a closing brace is missing":"a comma or a closing brace is missing")}}if(first==="["){let items=[];
if(at+=1,space(),text[at]==="]")return at+=1,{kind:"array",from,to:at,items};for(;;){if(items.push(value(depth+1)),space(),text[at]===","){at+=1;continue}if(text[at]===
"]")return at+=1,{kind:"array",from,to:at,items};fail(at>=text.length?"a closing bracket is missing":"a comma or a closing bracket is missing")}}if(first==='"')
return string(),{kind:"value",from,to:at};let word=/^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)/.exec(text.slice(at,at+400))?.[0];return word||fail(
at>=text.length?"the document ends too early":"a value is expected here"),at+=word.length,{kind:"value",from,to:at}};try{let root2=value(0);return space(),at<text.
length?{at,message:"something follows the end of the document"}:root2}catch(fault){if(typeof fault=="object"&&fault&&"at"in fault)return fault;throw fault}}var isFault=found=>!("\
kind"in found);function steps(path){let found=[];for(let[,name,quoted,index]of path.matchAll(/\.([^.[\]]+)|\[["']((?:[^"'\\]|\\.)*)["']\]|\[(\d+)\]/g))found.push(
index!==void 0?Number(index):quoted??name);return found}function find(root2,path){let node=root2,nameFrom;for(let step of path){let member=typeof step=="string"||
node.kind==="object"?node.members?.find(one=>one.name===String(step)):void 0,next=member?.value??(typeof step=="number"?node.items?.[step]:void 0);if(!next)return{
node,nameFrom,whole:!1};[node,nameFrom]=[next,member?.from]}return{node,nameFrom,whole:!0}}function place(text,at){let before=text.slice(0,at);return{line:before.
split(`
`).length,column:at-before.lastIndexOf(`
`)}}function set(text,path,value){let root2=read2(text);if(isFault(root2))return text;let{node,nameFrom,whole}=find(root2,path);if(whole&&value===void 0)return remove(
text,root2,path,nameFrom??node.from,node.to);if(whole)return text.slice(0,node.from)+written(value,indent(text,nameFrom??node.from))+text.slice(node.to);if(value===
void 0)return text;let depth=0,parent=root2;for(;depth<path.length;depth+=1){let next=parent.members?.find(one=>one.name===path[depth])?.value;if(!next)break;parent=
next}if(parent.kind!=="object")return text;let nested=path.slice(depth+1).reduceRight((inner2,name)=>({[name]:inner2}),value),inner=`${indent(text,parent.from)}\
  `,member=`${JSON.stringify(path[depth])}: ${written(nested,inner)}`,last3=parent.members?.at(-1);if(!last3)return`${text.slice(0,parent.from)}{
${inner}${member}
${indent(text,parent.from)}}${text.slice(parent.to)}`;let gap=text.slice(parent.from+1,parent.members[0].from);return`${text.slice(0,last3.value.to)},${gap.includes(
`
`)?gap:" "}${member}${text.slice(last3.value.to)}`}function remove(text,root2,path,from,to){let parent=find(root2,path.slice(0,-1)).node,index=parent.members?.findIndex(
one=>one.name===path.at(-1))??-1;if(index<0)return text;let next=parent.members[index+1],before=parent.members[index-1];return next?text.slice(0,from)+text.slice(
next.from):before?text.slice(0,before.value.to)+text.slice(to):text.slice(0,parent.from+1)+text.slice(parent.to-1)}function indent(text,at){return/^[ \t]*/.exec(
text.slice(text.lastIndexOf(`
`,at-1)+1))?.[0]??""}function written(value,indentation){return JSON.stringify(value,null,2).replaceAll(`
`,`
${indentation}`)}function valueAt(text,path){let root2=read2(text);if(isFault(root2))return;let{node,whole}=find(root2,path);if(whole)try{return JSON.parse(text.
slice(node.from,node.to))}catch{return}}function lines(old,now2){let a5=old.split(`
`),b3=now2.split(`
`),head=0,tail=0;for(;head<a5.length&&head<b3.length&&a5[head]===b3[head];)head+=1;for(;tail<a5.length-head&&tail<b3.length-head&&a5[a5.length-1-tail]===b3[b3.length-
1-tail];)tail+=1;let x3=a5.slice(head,a5.length-tail),y5=b3.slice(head,b3.length-tail),rows=a5.slice(0,head).map(text=>({kind:"same",text}));if(x3.length*y5.length>
4e6)rows.push(...x3.map(text=>({kind:"del",text})),...y5.map(text=>({kind:"add",text})));else{let table=Array.from({length:x3.length+1},()=>new Uint16Array(y5.length+
1));for(let i4=x3.length-1;i4>=0;i4-=1)for(let j3=y5.length-1;j3>=0;j3-=1)table[i4][j3]=x3[i4]===y5[j3]?table[i4+1][j3+1]+1:Math.max(table[i4+1][j3],table[i4][j3+
1]);for(let i4=0,j3=0;i4<x3.length||j3<y5.length;)i4<x3.length&&j3<y5.length&&x3[i4]===y5[j3]?(rows.push({kind:"same",text:x3[i4]}),i4+=1,j3+=1):j3>=y5.length||
i4<x3.length&&table[i4+1][j3]>=table[i4][j3+1]?rows.push({kind:"del",text:x3[i4++]}):rows.push({kind:"add",text:y5[j3++]})}rows.push(...a5.slice(a5.length-tail).
map(text=>({kind:"same",text})));let near=rows.map((_5,at)=>rows.slice(Math.max(0,at-3),at+4).some(row=>row.kind!=="same"));return rows.flatMap((row,at)=>near[at]?
[row]:near[at-1]||at===0?[{kind:"skip",text:"..."}]:[])}var UPLOT="uplot",ORI_HZ="u-hz",ORI_VT="u-vt",TITLE="u-title",WRAP="u-wrap",UNDER="u-under",OVER="u-over",AXIS="u-axis",OFF="u-off",SELECT="u-select",CURSOR_X="\
u-cursor-x",CURSOR_Y="u-cursor-y",CURSOR_PT="u-cursor-pt",LEGEND="u-legend",LEGEND_LIVE="u-live",LEGEND_INLINE="u-inline",LEGEND_SERIES="u-series",LEGEND_MARKER="\
u-marker",LEGEND_LABEL="u-label",LEGEND_VALUE="u-value",WIDTH="width",HEIGHT="height";var BOTTOM="bottom",LEFT="left",RIGHT="right",hexBlack="#000",transparent=hexBlack+"0",mousemove="mousemove",mousedown="mousedown",mouseup="mouseup",mouseenter="\
mouseenter",mouseleave="mouseleave",dblclick="dblclick",resize="resize",scroll="scroll",change="change",dppxchange="dppxchange",LEGEND_DISP="--",domEnv=typeof window<
"u",doc=domEnv?document:null,win=domEnv?window:null,nav=domEnv?navigator:null,pxRatio,query2;function setPxRatio(){let _pxRatio=devicePixelRatio;pxRatio!=_pxRatio&&
(pxRatio=_pxRatio,query2&&off(change,query2,setPxRatio),query2=matchMedia(`(min-resolution: ${pxRatio-.001}dppx) and (max-resolution: ${pxRatio+.001}dppx)`),on(
change,query2,setPxRatio),win.dispatchEvent(new CustomEvent(dppxchange)))}function addClass(el,c4){if(c4!=null){let cl=el.classList;!cl.contains(c4)&&cl.add(c4)}}
function remClass(el,c4){let cl=el.classList;cl.contains(c4)&&cl.remove(c4)}function setStylePx(el,name,value){el.style[name]=value+"px"}function placeTag(tag,cls,targ,refEl){
let el=doc.createElement(tag);return cls!=null&&addClass(el,cls),targ?.insertBefore(el,refEl),el}function placeDiv(cls,targ){return placeTag("div",cls,targ)}var xformCache=new WeakMap;
function elTrans(el,xPos,yPos,xMax,yMax){let xform="translate("+xPos+"px,"+yPos+"px)",xformOld=xformCache.get(el);xform!=xformOld&&(el.style.transform=xform,xformCache.
set(el,xform),xPos<0||yPos<0||xPos>xMax||yPos>yMax?addClass(el,OFF):remClass(el,OFF))}var colorCache=new WeakMap;function elColor(el,background,borderColor){let newColor=background+
borderColor,oldColor=colorCache.get(el);newColor!=oldColor&&(colorCache.set(el,newColor),el.style.background=background,el.style.borderColor=borderColor)}var sizeCache=new WeakMap;
function elSize(el,newWid,newHgt,centered){let newSize=newWid+""+newHgt,oldSize=sizeCache.get(el);newSize!=oldSize&&(sizeCache.set(el,newSize),el.style.height=newHgt+
"px",el.style.width=newWid+"px",el.style.marginLeft=centered?-newWid/2+"px":0,el.style.marginTop=centered?-newHgt/2+"px":0)}var evOpts={passive:!0},evOpts2={...evOpts,
capture:!0};function on(ev,el,cb,capt){el.addEventListener(ev,cb,capt?evOpts2:evOpts)}function off(ev,el,cb,capt){el.removeEventListener(ev,cb,evOpts)}domEnv&&setPxRatio();
function closestIdx(num,arr,lo,hi){let mid;lo=lo||0,hi=hi||arr.length-1;let bitwise=hi<=2147483647;for(;hi-lo>1;)mid=bitwise?lo+hi>>1:floor((lo+hi)/2),arr[mid]<
num?lo=mid:hi=mid;return num-arr[lo]<=arr[hi]-num?lo:hi}function makeIndexOfs(predicate){return(data2,_i0,_i1)=>{let i0=-1,i1=-1;for(let i4=_i0;i4<=_i1;i4++)if(predicate(
data2[i4])){i0=i4;break}for(let i4=_i1;i4>=_i0;i4--)if(predicate(data2[i4])){i1=i4;break}return[i0,i1]}}var notNullish=v4=>v4!=null,isPositive=v4=>v4!=null&&v4>
0,nonNullIdxs=makeIndexOfs(notNullish),positiveIdxs=makeIndexOfs(isPositive);function getMinMax(data2,_i0,_i1,sorted=0,log=!1){let getEdgeIdxs=log?positiveIdxs:
nonNullIdxs,predicate=log?isPositive:notNullish;[_i0,_i1]=getEdgeIdxs(data2,_i0,_i1);let _min=data2[_i0],_max=data2[_i0];if(_i0>-1)if(sorted==1)_min=data2[_i0],
_max=data2[_i1];else if(sorted==-1)_min=data2[_i1],_max=data2[_i0];else for(let i4=_i0;i4<=_i1;i4++){let v4=data2[i4];predicate(v4)&&(v4<_min?_min=v4:v4>_max&&(_max=
v4))}return[_min??inf,_max??-inf]}function rangeLog(min2,max2,base,fullMags){let minSign=sign(min2),maxSign=sign(max2);min2==max2&&(minSign==-1?(min2*=base,max2/=
base):(min2/=base,max2*=base));let logFn=base==10?log10:log2,growMinAbs=minSign==1?floor:ceil,growMaxAbs=maxSign==1?ceil:floor,minExp=growMinAbs(logFn(abs(min2))),
maxExp=growMaxAbs(logFn(abs(max2))),minIncr=pow(base,minExp),maxIncr=pow(base,maxExp);return base==10&&(minExp<0&&(minIncr=roundDec(minIncr,-minExp)),maxExp<0&&
(maxIncr=roundDec(maxIncr,-maxExp))),fullMags||base==2?(min2=minIncr*minSign,max2=maxIncr*maxSign):(min2=incrRoundDn(min2,minIncr),max2=incrRoundUp(max2,maxIncr)),
[min2,max2]}function rangeAsinh(min2,max2,base,fullMags){let minMax=rangeLog(min2,max2,base,fullMags);return min2==0&&(minMax[0]=0),max2==0&&(minMax[1]=0),minMax}
var rangePad=.1,autoRangePart={mode:3,pad:rangePad},_eqRangePart={pad:0,soft:null,mode:0},_eqRange={min:_eqRangePart,max:_eqRangePart};function rangeNum(_min,_max,mult,extra){
return isObj(mult)?_rangeNum(_min,_max,mult):(_eqRangePart.pad=mult,_eqRangePart.soft=extra?0:null,_eqRangePart.mode=extra?3:0,_rangeNum(_min,_max,_eqRange))}function ifNull(lh,rh){
return lh??rh}function hasData(data2,idx0,idx1){for(idx0=ifNull(idx0,0),idx1=ifNull(idx1,data2.length-1);idx0<=idx1;){if(data2[idx0]!=null)return!0;idx0++}return!1}
function _rangeNum(_min,_max,cfg){let cmin=cfg.min,cmax=cfg.max,padMin=ifNull(cmin.pad,0),padMax=ifNull(cmax.pad,0),hardMin=ifNull(cmin.hard,-inf),hardMax=ifNull(
cmax.hard,inf),softMin=ifNull(cmin.soft,inf),softMax=ifNull(cmax.soft,-inf),softMinMode=ifNull(cmin.mode,0),softMaxMode=ifNull(cmax.mode,0),delta=_max-_min,deltaMag=log10(
delta),scalarMax=max(abs(_min),abs(_max)),scalarMag=log10(scalarMax),scalarMagDelta=abs(scalarMag-deltaMag);(delta<1e-24||scalarMagDelta>10)&&(delta=0,(_min==0||
_max==0)&&(delta=1e-24,softMinMode==2&&softMin!=inf&&(padMin=0),softMaxMode==2&&softMax!=-inf&&(padMax=0)));let nonZeroDelta=delta||scalarMax||1e3,mag=log10(nonZeroDelta),
base=pow(10,floor(mag)),_padMin=nonZeroDelta*(delta==0?_min==0?.1:1:padMin),_newMin=roundDec(incrRoundDn(_min-_padMin,base/10),24),_softMin=_min>=softMin&&(softMinMode==
1||softMinMode==3&&_newMin<=softMin||softMinMode==2&&_newMin>=softMin)?softMin:inf,minLim=max(hardMin,_newMin<_softMin&&_min>=_softMin?_softMin:min(_softMin,_newMin)),
_padMax=nonZeroDelta*(delta==0?_max==0?.1:1:padMax),_newMax=roundDec(incrRoundUp(_max+_padMax,base/10),24),_softMax=_max<=softMax&&(softMaxMode==1||softMaxMode==
3&&_newMax>=softMax||softMaxMode==2&&_newMax<=softMax)?softMax:-inf,maxLim=min(hardMax,_newMax>_softMax&&_max<=_softMax?_softMax:max(_softMax,_newMax));return minLim==
maxLim&&minLim==0&&(maxLim=100),[minLim,maxLim]}var numFormatter=new Intl.NumberFormat(domEnv?nav.language:"en-US"),fmtNum=val=>numFormatter.format(val),M2=Math,
PI=M2.PI,abs=M2.abs,floor=M2.floor,round=M2.round,ceil=M2.ceil,min=M2.min,max=M2.max,pow=M2.pow,sign=M2.sign,log10=M2.log10,log2=M2.log2,sinh=(v4,linthresh=1)=>M2.
sinh(v4)*linthresh,asinh=(v4,linthresh=1)=>M2.asinh(v4/linthresh),inf=1/0;function numIntDigits(x3){return(log10((x3^x3>>31)-(x3>>31))|0)+1}function clamp(num,_min,_max){
return min(max(num,_min),_max)}function isFn(v4){return typeof v4=="function"}function fnOrSelf(v4){return isFn(v4)?v4:()=>v4}var noop=()=>{},retArg0=_0=>_0,retArg1=(_0,_1)=>_1,
retNull=_5=>null,retTrue=_5=>!0,retEq=(a5,b3)=>a5==b3,regex6=/\.\d*?(?=9{6,}|0{6,})/gm,fixFloat=val=>{if(isInt(val)||fixedDec.has(val))return val;let str=`${val}`,
match=str.match(regex6);if(match==null)return val;let len=match[0].length-1;if(str.indexOf("e-")!=-1){let[num,exp]=str.split("e");return+`${fixFloat(num)}e${exp}`}
return roundDec(val,len)};function incrRound(num,incr){return fixFloat(roundDec(fixFloat(num/incr))*incr)}function incrRoundUp(num,incr){return fixFloat(ceil(fixFloat(
num/incr))*incr)}function incrRoundDn(num,incr){return fixFloat(floor(fixFloat(num/incr))*incr)}function roundDec(val,dec=0){if(isInt(val))return val;let p5=10**
dec,n3=val*p5*(1+Number.EPSILON);return round(n3)/p5}var fixedDec=new Map;function guessDec(num){return((""+num).split(".")[1]||"").length}function genIncrs(base,minExp,maxExp,mults){
let incrs=[],multDec=mults.map(guessDec);for(let exp=minExp;exp<maxExp;exp++){let expa=abs(exp),mag=roundDec(pow(base,exp),expa);for(let i4=0;i4<mults.length;i4++){
let _incr=base==10?+`${mults[i4]}e${exp}`:mults[i4]*mag,dec=(exp>=0?0:expa)+(exp>=multDec[i4]?0:multDec[i4]),incr=base==10?_incr:roundDec(_incr,dec);incrs.push(
incr),fixedDec.set(incr,dec)}}return incrs}var EMPTY_OBJ={},EMPTY_ARR=[],nullNullTuple=[null,null],isArr=Array.isArray,isInt=Number.isInteger,isUndef=v4=>v4===void 0;
function isStr(v4){return typeof v4=="string"}function isObj(v4){let is=!1;if(v4!=null){let c4=v4.constructor;is=c4==null||c4==Object}return is}function fastIsObj(v4){
return v4!=null&&typeof v4=="object"}var TypedArray=Object.getPrototypeOf(Uint8Array),__proto__="__proto__";function copy2(o5,_isObj=isObj){let out;if(isArr(o5)){
let val=o5.find(v4=>v4!=null);if(isArr(val)||_isObj(val)){out=Array(o5.length);for(let i4=0;i4<o5.length;i4++)out[i4]=copy2(o5[i4],_isObj)}else out=o5.slice()}else if(o5 instanceof
TypedArray)out=o5.slice();else if(_isObj(o5)){out={};for(let k4 in o5)k4!=__proto__&&(out[k4]=copy2(o5[k4],_isObj))}else out=o5;return out}function assign(targ){
let args=arguments;for(let i4=1;i4<args.length;i4++){let src=args[i4];for(let key in src)key!=__proto__&&(isObj(targ[key])?assign(targ[key],copy2(src[key])):targ[key]=
copy2(src[key]))}return targ}var NULL_REMOVE=0,NULL_RETAIN=1,NULL_EXPAND=2;function nullExpand(yVals,nullIdxs,alignedLen){for(let i4=0,xi,lastNullIdx=-1;i4<nullIdxs.
length;i4++){let nullIdx=nullIdxs[i4];if(nullIdx>lastNullIdx){for(xi=nullIdx-1;xi>=0&&yVals[xi]==null;)yVals[xi--]=null;for(xi=nullIdx+1;xi<alignedLen&&yVals[xi]==
null;)yVals[lastNullIdx=xi++]=null}}}function join(tables,nullModes){if(allHeadersSame(tables)){let table=tables[0].slice();for(let i4=1;i4<tables.length;i4++)table.
push(...tables[i4].slice(1));return isAsc(table[0])||(table=sortCols(table)),table}let xVals=new Set;for(let ti=0;ti<tables.length;ti++){let xs=tables[ti][0],len=xs.
length;for(let i4=0;i4<len;i4++)xVals.add(xs[i4])}let data2=[Array.from(xVals).sort((a5,b3)=>a5-b3)],alignedLen=data2[0].length,xIdxs=new Map;for(let i4=0;i4<alignedLen;i4++)
xIdxs.set(data2[0][i4],i4);for(let ti=0;ti<tables.length;ti++){let t4=tables[ti],xs=t4[0];for(let si=1;si<t4.length;si++){let ys=t4[si],yVals=Array(alignedLen).
fill(void 0),nullMode=nullModes?nullModes[ti][si]:NULL_RETAIN,nullIdxs=[];for(let i4=0;i4<ys.length;i4++){let yVal=ys[i4],alignedIdx=xIdxs.get(xs[i4]);yVal===null?
nullMode!=NULL_REMOVE&&(yVals[alignedIdx]=yVal,nullMode==NULL_EXPAND&&nullIdxs.push(alignedIdx)):yVals[alignedIdx]=yVal}nullExpand(yVals,nullIdxs,alignedLen),data2.
push(yVals)}}return data2}var microTask=typeof queueMicrotask>"u"?fn=>Promise.resolve().then(fn):queueMicrotask;function sortCols(table){let head=table[0],rlen=head.
length,idxs=Array(rlen);for(let i4=0;i4<idxs.length;i4++)idxs[i4]=i4;idxs.sort((i0,i1)=>head[i0]-head[i1]);let table2=[];for(let i4=0;i4<table.length;i4++){let row=table[i4],
row2=Array(rlen);for(let j3=0;j3<rlen;j3++)row2[j3]=row[idxs[j3]];table2.push(row2)}return table2}function allHeadersSame(tables){let vals0=tables[0][0],len0=vals0.
length;for(let i4=1;i4<tables.length;i4++){let vals1=tables[i4][0];if(vals1.length!=len0)return!1;if(vals1!=vals0){for(let j3=0;j3<len0;j3++)if(vals1[j3]!=vals0[j3])
return!1}}return!0}function isAsc(vals,samples=100){let len=vals.length;if(len<=1)return!0;let firstIdx=0,lastIdx=len-1;for(;firstIdx<=lastIdx&&vals[firstIdx]==
null;)firstIdx++;for(;lastIdx>=firstIdx&&vals[lastIdx]==null;)lastIdx--;if(lastIdx<=firstIdx)return!0;let stride=max(1,floor((lastIdx-firstIdx+1)/samples));for(let prevVal=vals[firstIdx],
i4=firstIdx+stride;i4<=lastIdx;i4+=stride){let v4=vals[i4];if(v4!=null){if(v4<=prevVal)return!1;prevVal=v4}}return!0}var months=["January","February","March","A\
pril","May","June","July","August","September","October","November","December"],days=["Sunday","Monday","Tuesday","Wednesday","Thursday","Friday","Saturday"];function slice3(str){
return str.slice(0,3)}var days3=days.map(slice3),months3=months.map(slice3),engNames={MMMM:months,MMM:months3,WWWW:days,WWW:days3};function zeroPad2(int){return(int<
10?"0":"")+int}function zeroPad3(int){return(int<10?"00":int<100?"0":"")+int}var subs={YYYY:d5=>d5.getFullYear(),YY:d5=>(d5.getFullYear()+"").slice(2),MMMM:(d5,names)=>names.
MMMM[d5.getMonth()],MMM:(d5,names)=>names.MMM[d5.getMonth()],MM:d5=>zeroPad2(d5.getMonth()+1),M:d5=>d5.getMonth()+1,DD:d5=>zeroPad2(d5.getDate()),D:d5=>d5.getDate(),
WWWW:(d5,names)=>names.WWWW[d5.getDay()],WWW:(d5,names)=>names.WWW[d5.getDay()],HH:d5=>zeroPad2(d5.getHours()),H:d5=>d5.getHours(),h:d5=>{let h5=d5.getHours();return h5==
0?12:h5>12?h5-12:h5},AA:d5=>d5.getHours()>=12?"PM":"AM",aa:d5=>d5.getHours()>=12?"pm":"am",a:d5=>d5.getHours()>=12?"p":"a",mm:d5=>zeroPad2(d5.getMinutes()),m:d5=>d5.
getMinutes(),ss:d5=>zeroPad2(d5.getSeconds()),s:d5=>d5.getSeconds(),fff:d5=>zeroPad3(d5.getMilliseconds())};function fmtDate(tpl,names){names=names||engNames;let parts2=[],
R=/\{([a-z]+)\}|[^{]+/gi,m5;for(;m5=R.exec(tpl);)parts2.push(m5[0][0]=="{"?subs[m5[1]]:m5[0]);return d5=>{let out="";for(let i4=0;i4<parts2.length;i4++)out+=typeof parts2[i4]==
"string"?parts2[i4]:parts2[i4](d5,names);return out}}var localTz=new Intl.DateTimeFormat().resolvedOptions().timeZone;function tzDate(date2,tz){let date22;return tz==
"UTC"||tz=="Etc/UTC"?date22=new Date(+date2+date2.getTimezoneOffset()*6e4):tz==localTz?date22=date2:(date22=new Date(date2.toLocaleString("en-US",{timeZone:tz})),
date22.setMilliseconds(date2.getMilliseconds())),date22}var onlyWhole=v4=>v4%1==0,allMults=[1,2,2.5,5],decIncrs=genIncrs(10,-32,0,allMults),oneIncrs=genIncrs(10,
0,32,allMults),wholeIncrs=oneIncrs.filter(onlyWhole),numIncrs=decIncrs.concat(oneIncrs),NL=`
`,yyyy="{YYYY}",NLyyyy=NL+yyyy,md="{M}/{D}",NLmd=NL+md,NLmdyy=NLmd+"/{YY}",aa="{aa}",hmm="{h}:{mm}",hmmaa=hmm+aa,NLhmmaa=NL+hmmaa,ss=":{ss}",_4=null;function genTimeStuffs(ms){
let s4=ms*1e3,m5=s4*60,h5=m5*60,d5=h5*24,mo=d5*30,y5=d5*365,timeIncrs=(ms==1?genIncrs(10,0,3,allMults).filter(onlyWhole):genIncrs(10,-3,0,allMults)).concat([s4,
s4*5,s4*10,s4*15,s4*30,m5,m5*5,m5*10,m5*15,m5*30,h5,h5*2,h5*3,h5*4,h5*6,h5*8,h5*12,d5,d5*2,d5*3,d5*4,d5*5,d5*6,d5*7,d5*8,d5*9,d5*10,d5*15,mo,mo*2,mo*3,mo*4,mo*6,
y5,y5*2,y5*5,y5*10,y5*25,y5*50,y5*100]),_timeAxisStamps=[[y5,yyyy,_4,_4,_4,_4,_4,_4,1],[d5*28,"{MMM}",NLyyyy,_4,_4,_4,_4,_4,1],[d5,md,NLyyyy,_4,_4,_4,_4,_4,1],[
h5,"{h}"+aa,NLmdyy,_4,NLmd,_4,_4,_4,1],[m5,hmmaa,NLmdyy,_4,NLmd,_4,_4,_4,1],[s4,ss,NLmdyy+" "+hmmaa,_4,NLmd+" "+hmmaa,_4,NLhmmaa,_4,1],[ms,ss+".{fff}",NLmdyy+" "+
hmmaa,_4,NLmd+" "+hmmaa,_4,NLhmmaa,_4,1]];function timeAxisSplits(tzDate2){return(self,axisIdx,scaleMin,scaleMax,foundIncr,foundSpace)=>{let splits=[],isYr=foundIncr>=
y5,isMo=foundIncr>=mo&&foundIncr<y5,minDate=tzDate2(scaleMin),minDateTs=roundDec(minDate*ms,3),minMin=mkDate(minDate.getFullYear(),isYr?0:minDate.getMonth(),isMo||
isYr?1:minDate.getDate()),minMinTs=roundDec(minMin*ms,3);if(isMo||isYr){let moIncr=isMo?foundIncr/mo:0,yrIncr=isYr?foundIncr/y5:0,split=minDateTs==minMinTs?minDateTs:
roundDec(mkDate(minMin.getFullYear()+yrIncr,minMin.getMonth()+moIncr,1)*ms,3),splitDate=new Date(round(split/ms)),baseYear=splitDate.getFullYear(),baseMonth=splitDate.
getMonth();for(let i4=0;split<=scaleMax;i4++){let next=mkDate(baseYear+yrIncr*i4,baseMonth+moIncr*i4,1),offs=next-tzDate2(roundDec(next*ms,3));split=roundDec((+next+
offs)*ms,3),split<=scaleMax&&splits.push(split)}}else{let incr0=foundIncr>=d5?d5:foundIncr,tzOffset=floor(scaleMin)-floor(minDateTs),split=minMinTs+tzOffset+incrRoundUp(
minDateTs-minMinTs,incr0);splits.push(split);let date0=tzDate2(split),prevHour=date0.getHours()+date0.getMinutes()/m5+date0.getSeconds()/h5,incrHours=foundIncr/
h5,minSpace=self.axes[axisIdx]._space,pctSpace=foundSpace/minSpace;for(;split=roundDec(split+foundIncr,ms==1?0:3),!(split>scaleMax);)if(incrHours>1){let expectedHour=floor(
roundDec(prevHour+incrHours,6))%24,dstShift=tzDate2(split).getHours()-expectedHour;dstShift>1&&(dstShift=-1),split-=dstShift*h5,prevHour=(prevHour+incrHours)%24;
let prevSplit=splits[splits.length-1];roundDec((split-prevSplit)/foundIncr,3)*pctSpace>=.7&&splits.push(split)}else splits.push(split)}return splits}}return[timeIncrs,
_timeAxisStamps,timeAxisSplits]}var[timeIncrsMs,_timeAxisStampsMs,timeAxisSplitsMs]=genTimeStuffs(1),[timeIncrsS,_timeAxisStampsS,timeAxisSplitsS]=genTimeStuffs(
.001);genIncrs(2,-53,53,[1]);function timeAxisStamps(stampCfg,fmtDate2){return stampCfg.map(s4=>s4.map((v4,i4)=>i4==0||i4==8||v4==null?v4:fmtDate2(i4==1||s4[8]==
0?v4:s4[1]+v4)))}function timeAxisVals(tzDate2,stamps){return(self,splits,axisIdx,foundSpace,foundIncr)=>{let s4=stamps.find(s5=>foundIncr>=s5[0])||stamps[stamps.
length-1],prevYear,prevMnth,prevDate,prevHour,prevMins,prevSecs;return splits.map(split=>{let date2=tzDate2(split),newYear=date2.getFullYear(),newMnth=date2.getMonth(),
newDate=date2.getDate(),newHour=date2.getHours(),newMins=date2.getMinutes(),newSecs=date2.getSeconds(),stamp=newYear!=prevYear&&s4[2]||newMnth!=prevMnth&&s4[3]||
newDate!=prevDate&&s4[4]||newHour!=prevHour&&s4[5]||newMins!=prevMins&&s4[6]||newSecs!=prevSecs&&s4[7]||s4[1];return prevYear=newYear,prevMnth=newMnth,prevDate=
newDate,prevHour=newHour,prevMins=newMins,prevSecs=newSecs,stamp(date2)})}}function timeAxisVal(tzDate2,dateTpl){let stamp=fmtDate(dateTpl);return(self,splits,axisIdx,foundSpace,foundIncr)=>splits.
map(split=>stamp(tzDate2(split)))}function mkDate(y5,m5,d5){return new Date(y5,m5,d5)}function timeSeriesStamp(stampCfg,fmtDate2){return fmtDate2(stampCfg)}var _timeSeriesStamp="\
{YYYY}-{MM}-{DD} {h}:{mm}{aa}";function timeSeriesVal(tzDate2,stamp){return(self,val,seriesIdx,dataIdx)=>dataIdx==null?LEGEND_DISP:stamp(tzDate2(val))}function legendStroke(self,seriesIdx){
let s4=self.series[seriesIdx];return s4.width?s4.stroke(self,seriesIdx):s4.points.width?s4.points.stroke(self,seriesIdx):null}function legendFill(self,seriesIdx){
return self.series[seriesIdx].fill(self,seriesIdx)}var legendOpts={show:!0,live:!0,isolate:!1,mount:noop,markers:{show:!0,width:2,stroke:legendStroke,fill:legendFill,
dash:"solid"},idx:null,idxs:null,values:[]};function cursorPointShow(self,si){let o5=self.cursor.points,pt=placeDiv(),size=o5.size(self,si);setStylePx(pt,WIDTH,
size),setStylePx(pt,HEIGHT,size);let mar=size/-2;setStylePx(pt,"marginLeft",mar),setStylePx(pt,"marginTop",mar);let width=o5.width(self,si,size);return width&&setStylePx(
pt,"borderWidth",width),pt}function cursorPointFill(self,si){let sp=self.series[si].points;return sp._fill||sp._stroke}function cursorPointStroke(self,si){let sp=self.
series[si].points;return sp._stroke||sp._fill}function cursorPointSize(self,si){return self.series[si].points.size}var moveTuple=[0,0];function cursorMove(self,mouseLeft1,mouseTop1){
return moveTuple[0]=mouseLeft1,moveTuple[1]=mouseTop1,moveTuple}function filtBtn0(self,targ,handle,onlyTarg=!0){return e4=>{e4.button==0&&(!onlyTarg||e4.target==
targ)&&handle(e4)}}function filtTarg(self,targ,handle,onlyTarg=!0){return e4=>{(!onlyTarg||e4.target==targ)&&handle(e4)}}var cursorOpts={show:!0,x:!0,y:!0,lock:!1,
move:cursorMove,points:{one:!1,show:cursorPointShow,size:cursorPointSize,width:0,stroke:cursorPointStroke,fill:cursorPointFill},bind:{mousedown:filtBtn0,mouseup:filtBtn0,
click:filtBtn0,dblclick:filtBtn0,mousemove:filtTarg,mouseleave:filtTarg,mouseenter:filtTarg},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,click:(self,e4)=>{e4.stopPropagation(),
e4.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(self,seriesIdx,dataIdx,valPos,curPos)=>valPos-curPos,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},
left:-10,top:-10,idx:null,dataIdx:null,idxs:null,event:null},axisLines={show:!0,stroke:"rgba(0,0,0,0.07)",width:2},grid=assign({},axisLines,{filter:retArg1}),ticks=assign(
{},grid,{size:10}),border=assign({},axisLines,{show:!1}),font='12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-ser\
if, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"',labelFont="bold "+font,lineGap=1.5,xAxisOpts={show:!0,scale:"x",stroke:hexBlack,
space:50,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont,side:2,grid,ticks,border,font,lineGap,rotate:0},numSeriesLabel="Value",timeSeriesLabel="Time",
xSeriesOpts={show:!0,scale:"x",auto:!1,sorted:1,min:inf,max:-inf,idxs:[]};function numAxisVals(self,splits,axisIdx,foundSpace,foundIncr){return splits.map(v4=>v4==
null?"":fmtNum(v4))}function numAxisSplits(self,axisIdx,scaleMin,scaleMax,foundIncr,foundSpace,forceMin){let splits=[],numDec=fixedDec.get(foundIncr)||0;scaleMin=
forceMin?scaleMin:roundDec(incrRoundUp(scaleMin,foundIncr),numDec);for(let val=scaleMin;val<=scaleMax;val=roundDec(val+foundIncr,numDec))splits.push(Object.is(val,
-0)?0:val);return splits}function logAxisSplits(self,axisIdx,scaleMin,scaleMax,foundIncr,foundSpace,forceMin){let splits=[],logBase=self.scales[self.axes[axisIdx].
scale].log,logFn=logBase==10?log10:log2,exp=floor(logFn(scaleMin));foundIncr=pow(logBase,exp),logBase==10&&(foundIncr=numIncrs[closestIdx(foundIncr,numIncrs)]);
let split=scaleMin,nextMagIncr=foundIncr*logBase;logBase==10&&(nextMagIncr=numIncrs[closestIdx(nextMagIncr,numIncrs)]);do splits.push(split),split=split+foundIncr,
logBase==10&&!fixedDec.has(split)&&(split=roundDec(split,fixedDec.get(foundIncr))),split>=nextMagIncr&&(foundIncr=split,nextMagIncr=foundIncr*logBase,logBase==10&&
(nextMagIncr=numIncrs[closestIdx(nextMagIncr,numIncrs)]));while(split<=scaleMax);return splits}function asinhAxisSplits(self,axisIdx,scaleMin,scaleMax,foundIncr,foundSpace,forceMin){
let linthresh=self.scales[self.axes[axisIdx].scale].asinh,posSplits=scaleMax>linthresh?logAxisSplits(self,axisIdx,max(linthresh,scaleMin),scaleMax,foundIncr):[linthresh],
zero=scaleMax>=0&&scaleMin<=0?[0]:[];return(scaleMin<-linthresh?logAxisSplits(self,axisIdx,max(linthresh,-scaleMax),-scaleMin,foundIncr):[linthresh]).reverse().
map(v4=>-v4).concat(zero,posSplits)}var RE_ALL=/./,RE_12357=/[12357]/,RE_125=/[125]/,RE_1=/1/,_filt=(splits,distr,re,keepMod)=>splits.map((v4,i4)=>distr==4&&v4==
0||i4%keepMod==0&&re.test(v4.toExponential()[v4<0?1:0])?v4:null);function log10AxisValsFilt(self,splits,axisIdx,foundSpace,foundIncr){let axis=self.axes[axisIdx],
scaleKey=axis.scale,sc=self.scales[scaleKey],valToPos=self.valToPos,minSpace=axis._space,_10=valToPos(10,scaleKey),re=valToPos(9,scaleKey)-_10>=minSpace?RE_ALL:
valToPos(7,scaleKey)-_10>=minSpace?RE_12357:valToPos(5,scaleKey)-_10>=minSpace?RE_125:RE_1;if(re==RE_1){let magSpace=abs(valToPos(1,scaleKey)-_10);if(magSpace<minSpace)
return _filt(splits.slice().reverse(),sc.distr,re,ceil(minSpace/magSpace)).reverse()}return _filt(splits,sc.distr,re,1)}function log2AxisValsFilt(self,splits,axisIdx,foundSpace,foundIncr){
let axis=self.axes[axisIdx],scaleKey=axis.scale,minSpace=axis._space,valToPos=self.valToPos,magSpace=abs(valToPos(1,scaleKey)-valToPos(2,scaleKey));return magSpace<
minSpace?_filt(splits.slice().reverse(),3,RE_ALL,ceil(minSpace/magSpace)).reverse():splits}function numSeriesVal(self,val,seriesIdx,dataIdx){return dataIdx==null?
LEGEND_DISP:val==null?"":fmtNum(val)}var yAxisOpts={show:!0,scale:"y",stroke:hexBlack,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont,side:3,
grid,ticks,border,font,lineGap,rotate:0};function ptDia(width,mult){let dia=3+(width||1)*2;return roundDec(dia*mult,3)}function seriesPointsShow(self,si){let{scale,
idxs}=self.series[0],xData=self._data[0],p0=self.valToPos(xData[idxs[0]],scale,!0),p1=self.valToPos(xData[idxs[1]],scale,!0),dim=abs(p1-p0),s4=self.series[si],maxPts=dim/
(s4.points.space*pxRatio);return idxs[1]-idxs[0]<=maxPts}var facet={scale:null,auto:!0,sorted:0,min:inf,max:-inf},gaps=(self,seriesIdx,idx0,idx1,nullGaps)=>nullGaps,
xySeriesOpts={show:!0,auto:!0,sorted:0,gaps,alpha:1,facets:[assign({},facet,{scale:"x"}),assign({},facet,{scale:"y"})]},ySeriesOpts={scale:"y",auto:!0,sorted:0,
show:!0,spanGaps:!1,gaps,alpha:1,points:{show:seriesPointsShow,filter:null},values:null,min:inf,max:-inf,idxs:[],path:null,clip:null};function clampScale(self,val,scaleMin,scaleMax,scaleKey){
return scaleMin/10}var xScaleOpts={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},yScaleOpts=assign({},xScaleOpts,{time:!1,ori:1}),syncs={};
function _sync(key,opts){let s4=syncs[key];return s4||(s4={key,plots:[],sub(plot){s4.plots.push(plot)},unsub(plot){s4.plots=s4.plots.filter(c4=>c4!=plot)},pub(type,self,x3,y5,w5,h5,i4){
for(let j3=0;j3<s4.plots.length;j3++)s4.plots[j3]!=self&&s4.plots[j3].pub(type,self,x3,y5,w5,h5,i4)}},key!=null&&(syncs[key]=s4)),s4}var BAND_CLIP_FILL=1,BAND_CLIP_STROKE=2;
function orient(u4,seriesIdx,cb){let mode=u4.mode,series=u4.series[seriesIdx],data2=mode==2?u4._data[seriesIdx]:u4._data,scales=u4.scales,bbox=u4.bbox,dx=data2[0],
dy=mode==2?data2[1]:data2[seriesIdx],sx=mode==2?scales[series.facets[0].scale]:scales[u4.series[0].scale],sy=mode==2?scales[series.facets[1].scale]:scales[series.
scale],l4=bbox.left,t4=bbox.top,w5=bbox.width,h5=bbox.height,H2=u4.valToPosH,V2=u4.valToPosV;return sx.ori==0?cb(series,dx,dy,sx,sy,H2,V2,l4,t4,w5,h5,moveToH,lineToH,
rectH,arcH,bezierCurveToH):cb(series,dx,dy,sx,sy,V2,H2,t4,l4,h5,w5,moveToV,lineToV,rectV,arcV,bezierCurveToV)}function bandFillClipDirs(self,seriesIdx){let fillDir=0,
clipDirs=0,bands=ifNull(self.bands,EMPTY_ARR);for(let i4=0;i4<bands.length;i4++){let b3=bands[i4];b3.series[0]==seriesIdx?fillDir=b3.dir:b3.series[1]==seriesIdx&&
(b3.dir==1?clipDirs|=1:clipDirs|=2)}return[fillDir,clipDirs==1?-1:clipDirs==2?1:clipDirs==3?2:0]}function seriesFillTo(self,seriesIdx,dataMin,dataMax,bandFillDir){
let mode=self.mode,series=self.series[seriesIdx],scaleKey=mode==2?series.facets[1].scale:series.scale,scale=self.scales[scaleKey];return bandFillDir==-1?scale.min:
bandFillDir==1?scale.max:scale.distr==3?scale.dir==1?scale.min:scale.max:0}function clipBandLine(self,seriesIdx,idx0,idx1,strokePath,clipDir){return orient(self,
seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{let pxRound=series.pxRound,dir=scaleX.dir*(scaleX.ori==0?1:-1),lineTo=scaleX.
ori==0?lineToH:lineToV,frIdx,toIdx;dir==1?(frIdx=idx0,toIdx=idx1):(frIdx=idx1,toIdx=idx0);let x0=pxRound(valToPosX(dataX[frIdx],scaleX,xDim,xOff)),y0=pxRound(valToPosY(
dataY[frIdx],scaleY,yDim,yOff)),x1=pxRound(valToPosX(dataX[toIdx],scaleX,xDim,xOff)),yLimit=pxRound(valToPosY(clipDir==1?scaleY.max:scaleY.min,scaleY,yDim,yOff)),
clip=new Path2D(strokePath);return lineTo(clip,x1,yLimit),lineTo(clip,x0,yLimit),lineTo(clip,x0,y0),clip})}function clipGaps(gaps2,ori,plotLft,plotTop,plotWid,plotHgt){
let clip=null;if(gaps2.length>0){clip=new Path2D;let rect2=ori==0?rectH:rectV,prevGapEnd=plotLft;for(let i4=0;i4<gaps2.length;i4++){let g5=gaps2[i4];if(g5[1]>g5[0]){
let w6=g5[0]-prevGapEnd;w6>0&&rect2(clip,prevGapEnd,plotTop,w6,plotTop+plotHgt),prevGapEnd=g5[1]}}let w5=plotLft+plotWid-prevGapEnd,maxStrokeWidth=10;w5>0&&rect2(
clip,prevGapEnd,plotTop-maxStrokeWidth/2,w5,plotTop+plotHgt+maxStrokeWidth)}return clip}function addGap(gaps2,fromX,toX){let prevGap=gaps2[gaps2.length-1];prevGap&&
prevGap[0]==fromX?prevGap[1]=toX:gaps2.push([fromX,toX])}function findGaps(xs,ys,idx0,idx1,dir,pixelForX,align){let gaps2=[],len=xs.length;for(let i4=dir==1?idx0:
idx1;i4>=idx0&&i4<=idx1;i4+=dir)if(ys[i4]===null){let fr=i4,to=i4;if(dir==1)for(;++i4<=idx1&&ys[i4]===null;)to=i4;else for(;--i4>=idx0&&ys[i4]===null;)to=i4;let frPx=pixelForX(
xs[fr]),toPx=to==fr?frPx:pixelForX(xs[to]),fri2=fr-dir;frPx=align<=0&&fri2>=0&&fri2<len?pixelForX(xs[fri2]):frPx;let toi2=to+dir;toPx=align>=0&&toi2>=0&&toi2<len?
pixelForX(xs[toi2]):toPx,toPx>=frPx&&gaps2.push([frPx,toPx])}return gaps2}function pxRoundGen(pxAlign){return pxAlign==0?retArg0:pxAlign==1?round:v4=>incrRound(
v4,pxAlign)}function rect(ori){let moveTo=ori==0?moveToH:moveToV,arcTo=ori==0?(p5,x1,y1,x22,y22,r4)=>{p5.arcTo(x1,y1,x22,y22,r4)}:(p5,y1,x1,y22,x22,r4)=>{p5.arcTo(
x1,y1,x22,y22,r4)},rect2=ori==0?(p5,x3,y5,w5,h5)=>{p5.rect(x3,y5,w5,h5)}:(p5,y5,x3,h5,w5)=>{p5.rect(x3,y5,w5,h5)};return(p5,x3,y5,w5,h5,endRad=0,baseRad=0)=>{endRad==
0&&baseRad==0?rect2(p5,x3,y5,w5,h5):(endRad=min(endRad,w5/2,h5/2),baseRad=min(baseRad,w5/2,h5/2),moveTo(p5,x3+endRad,y5),arcTo(p5,x3+w5,y5,x3+w5,y5+h5,endRad),arcTo(
p5,x3+w5,y5+h5,x3,y5+h5,baseRad),arcTo(p5,x3,y5+h5,x3,y5,baseRad),arcTo(p5,x3,y5,x3+w5,y5,endRad),p5.closePath())}}var moveToH=(p5,x3,y5)=>{p5.moveTo(x3,y5)},moveToV=(p5,y5,x3)=>{
p5.moveTo(x3,y5)},lineToH=(p5,x3,y5)=>{p5.lineTo(x3,y5)},lineToV=(p5,y5,x3)=>{p5.lineTo(x3,y5)},rectH=rect(0),rectV=rect(1),arcH=(p5,x3,y5,r4,startAngle,endAngle)=>{
p5.arc(x3,y5,r4,startAngle,endAngle)},arcV=(p5,y5,x3,r4,startAngle,endAngle)=>{p5.arc(x3,y5,r4,startAngle,endAngle)},bezierCurveToH=(p5,bp1x,bp1y,bp2x,bp2y,p2x,p2y)=>{
p5.bezierCurveTo(bp1x,bp1y,bp2x,bp2y,p2x,p2y)},bezierCurveToV=(p5,bp1y,bp1x,bp2y,bp2x,p2y,p2x)=>{p5.bezierCurveTo(bp1x,bp1y,bp2x,bp2y,p2x,p2y)};function points(opts){
return(u4,seriesIdx,idx0,idx1,filtIdxs)=>orient(u4,seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{let{pxRound,points:points2}=series,
moveTo,arc;scaleX.ori==0?(moveTo=moveToH,arc=arcH):(moveTo=moveToV,arc=arcV);let width=roundDec(points2.width*pxRatio,3),rad=(points2.size-points2.width)/2*pxRatio,
dia=roundDec(rad*2,3),fill=new Path2D,clip=new Path2D,{left:lft,top,width:wid,height:hgt}=u4.bbox;rectH(clip,lft-dia,top-dia,wid+dia*2,hgt+dia*2);let drawPoint=pi=>{
if(dataY[pi]!=null){let x3=pxRound(valToPosX(dataX[pi],scaleX,xDim,xOff)),y5=pxRound(valToPosY(dataY[pi],scaleY,yDim,yOff));moveTo(fill,x3+rad,y5),arc(fill,x3,y5,
rad,0,PI*2)}};if(filtIdxs)filtIdxs.forEach(drawPoint);else for(let pi=idx0;pi<=idx1;pi++)drawPoint(pi);return{stroke:width>0?fill:null,fill,clip,flags:BAND_CLIP_FILL|
BAND_CLIP_STROKE}})}function _drawAcc(lineTo){return(stroke,accX,minY,maxY,inY,outY)=>{minY!=maxY&&(inY!=minY&&outY!=minY&&lineTo(stroke,accX,minY),inY!=maxY&&outY!=
maxY&&lineTo(stroke,accX,maxY),lineTo(stroke,accX,outY))}}var drawAccH=_drawAcc(lineToH),drawAccV=_drawAcc(lineToV);function linear(opts){let alignGaps=ifNull(opts?.
alignGaps,0);return(u4,seriesIdx,idx0,idx1)=>orient(u4,seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{[idx0,idx1]=nonNullIdxs(
dataY,idx0,idx1);let pxRound=series.pxRound,pixelForX=val=>pxRound(valToPosX(val,scaleX,xDim,xOff)),pixelForY=val=>pxRound(valToPosY(val,scaleY,yDim,yOff)),lineTo,
drawAcc;scaleX.ori==0?(lineTo=lineToH,drawAcc=drawAccH):(lineTo=lineToV,drawAcc=drawAccV);let dir=scaleX.dir*(scaleX.ori==0?1:-1),_paths={stroke:new Path2D,fill:null,
clip:null,band:null,gaps:null,flags:BAND_CLIP_FILL},stroke=_paths.stroke,hasGap=!1;if(idx1-idx0>=xDim*4){let xForPixel=pos=>u4.posToVal(pos,scaleX.key,!0),minY=null,
maxY=null,inY,outY,drawnAtX,accX=pixelForX(dataX[dir==1?idx0:idx1]),idx0px=pixelForX(dataX[idx0]),idx1px=pixelForX(dataX[idx1]),nextAccXVal=xForPixel(dir==1?idx0px+
1:idx1px-1);for(let i4=dir==1?idx0:idx1;i4>=idx0&&i4<=idx1;i4+=dir){let xVal=dataX[i4],x3=(dir==1?xVal<nextAccXVal:xVal>nextAccXVal)?accX:pixelForX(xVal),yVal=dataY[i4];
x3==accX?yVal!=null?(outY=yVal,minY==null?(lineTo(stroke,x3,pixelForY(outY)),inY=minY=maxY=outY):outY<minY?minY=outY:outY>maxY&&(maxY=outY)):yVal===null&&(hasGap=
!0):(minY!=null&&drawAcc(stroke,accX,pixelForY(minY),pixelForY(maxY),pixelForY(inY),pixelForY(outY)),yVal!=null?(outY=yVal,lineTo(stroke,x3,pixelForY(outY)),minY=
maxY=inY=outY):(minY=maxY=null,yVal===null&&(hasGap=!0)),accX=x3,nextAccXVal=xForPixel(accX+dir))}minY!=null&&minY!=maxY&&drawnAtX!=accX&&drawAcc(stroke,accX,pixelForY(
minY),pixelForY(maxY),pixelForY(inY),pixelForY(outY))}else for(let i4=dir==1?idx0:idx1;i4>=idx0&&i4<=idx1;i4+=dir){let yVal=dataY[i4];yVal===null?hasGap=!0:yVal!=
null&&lineTo(stroke,pixelForX(dataX[i4]),pixelForY(yVal))}let[bandFillDir,bandClipDir]=bandFillClipDirs(u4,seriesIdx);if(series.fill!=null||bandFillDir!=0){let fill=_paths.
fill=new Path2D(stroke),fillToVal=series.fillTo(u4,seriesIdx,series.min,series.max,bandFillDir),fillToY=pixelForY(fillToVal),frX=pixelForX(dataX[idx0]),toX=pixelForX(
dataX[idx1]);dir==-1&&([toX,frX]=[frX,toX]),lineTo(fill,toX,fillToY),lineTo(fill,frX,fillToY)}if(!series.spanGaps){let gaps2=[];hasGap&&gaps2.push(...findGaps(dataX,
dataY,idx0,idx1,dir,pixelForX,alignGaps)),_paths.gaps=gaps2=series.gaps(u4,seriesIdx,idx0,idx1,gaps2),_paths.clip=clipGaps(gaps2,scaleX.ori,xOff,yOff,xDim,yDim)}
return bandClipDir!=0&&(_paths.band=bandClipDir==2?[clipBandLine(u4,seriesIdx,idx0,idx1,stroke,-1),clipBandLine(u4,seriesIdx,idx0,idx1,stroke,1)]:clipBandLine(u4,
seriesIdx,idx0,idx1,stroke,bandClipDir)),_paths})}function stepped(opts){let align=ifNull(opts.align,1),ascDesc=ifNull(opts.ascDesc,!1),alignGaps=ifNull(opts.alignGaps,
0),extend=ifNull(opts.extend,!1);return(u4,seriesIdx,idx0,idx1)=>orient(u4,seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{
[idx0,idx1]=nonNullIdxs(dataY,idx0,idx1);let pxRound=series.pxRound,{left,width}=u4.bbox,pixelForX=val=>pxRound(valToPosX(val,scaleX,xDim,xOff)),pixelForY=val=>pxRound(
valToPosY(val,scaleY,yDim,yOff)),lineTo=scaleX.ori==0?lineToH:lineToV,_paths={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:BAND_CLIP_FILL},stroke=_paths.
stroke,dir=scaleX.dir*(scaleX.ori==0?1:-1),prevYPos=pixelForY(dataY[dir==1?idx0:idx1]),firstXPos=pixelForX(dataX[dir==1?idx0:idx1]),prevXPos=firstXPos,firstXPosExt=firstXPos;
extend&&align==-1&&(firstXPosExt=left,lineTo(stroke,firstXPosExt,prevYPos)),lineTo(stroke,firstXPos,prevYPos);for(let i4=dir==1?idx0:idx1;i4>=idx0&&i4<=idx1;i4+=
dir){let yVal1=dataY[i4];if(yVal1==null)continue;let x1=pixelForX(dataX[i4]),y1=pixelForY(yVal1);align==1?lineTo(stroke,x1,prevYPos):lineTo(stroke,prevXPos,y1),
lineTo(stroke,x1,y1),prevYPos=y1,prevXPos=x1}let prevXPosExt=prevXPos;extend&&align==1&&(prevXPosExt=left+width,lineTo(stroke,prevXPosExt,prevYPos));let[bandFillDir,
bandClipDir]=bandFillClipDirs(u4,seriesIdx);if(series.fill!=null||bandFillDir!=0){let fill=_paths.fill=new Path2D(stroke),fillTo=series.fillTo(u4,seriesIdx,series.
min,series.max,bandFillDir),fillToY=pixelForY(fillTo);lineTo(fill,prevXPosExt,fillToY),lineTo(fill,firstXPosExt,fillToY)}if(!series.spanGaps){let gaps2=[];gaps2.
push(...findGaps(dataX,dataY,idx0,idx1,dir,pixelForX,alignGaps));let halfStroke=series.width*pxRatio/2,startsOffset=ascDesc||align==1?halfStroke:-halfStroke,endsOffset=ascDesc||
align==-1?-halfStroke:halfStroke;gaps2.forEach(g5=>{g5[0]+=startsOffset,g5[1]+=endsOffset}),_paths.gaps=gaps2=series.gaps(u4,seriesIdx,idx0,idx1,gaps2),_paths.clip=
clipGaps(gaps2,scaleX.ori,xOff,yOff,xDim,yDim)}return bandClipDir!=0&&(_paths.band=bandClipDir==2?[clipBandLine(u4,seriesIdx,idx0,idx1,stroke,-1),clipBandLine(u4,
seriesIdx,idx0,idx1,stroke,1)]:clipBandLine(u4,seriesIdx,idx0,idx1,stroke,bandClipDir)),_paths})}function findColWidth(dataX,dataY,valToPosX,scaleX,xDim,xOff,colWid=inf){
if(dataX.length>1){let prevIdx=null;for(let i4=0,minDelta=1/0;i4<dataX.length;i4++)if(dataY[i4]!==void 0){if(prevIdx!=null){let delta=abs(dataX[i4]-dataX[prevIdx]);
delta<minDelta&&(minDelta=delta,colWid=abs(valToPosX(dataX[i4],scaleX,xDim,xOff)-valToPosX(dataX[prevIdx],scaleX,xDim,xOff)))}prevIdx=i4}}return colWid}function bars(opts){
opts=opts||EMPTY_OBJ;let size=ifNull(opts.size,[.6,inf,1]),align=opts.align||0,_extraGap=opts.gap||0,ro=opts.radius;ro=ro==null?[0,0]:typeof ro=="number"?[ro,0]:
ro;let radiusFn=fnOrSelf(ro),gapFactor=1-size[0],_maxWidth=ifNull(size[1],inf),_minWidth=ifNull(size[2],1),disp=ifNull(opts.disp,EMPTY_OBJ),_each=ifNull(opts.each,
_5=>{}),{fill:dispFills,stroke:dispStrokes}=disp;return(u4,seriesIdx,idx0,idx1)=>orient(u4,seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{
let pxRound=series.pxRound,_align=align,extraGap=_extraGap*pxRatio,maxWidth=_maxWidth*pxRatio,minWidth=_minWidth*pxRatio,valRadius,baseRadius;scaleX.ori==0?[valRadius,
baseRadius]=radiusFn(u4,seriesIdx):[baseRadius,valRadius]=radiusFn(u4,seriesIdx);let _dirX=scaleX.dir*(scaleX.ori==0?1:-1),rect2=scaleX.ori==0?rectH:rectV,each=scaleX.
ori==0?_each:(u5,seriesIdx2,i4,top,lft,hgt,wid)=>{_each(u5,seriesIdx2,i4,lft,top,wid,hgt)},band=ifNull(u4.bands,EMPTY_ARR).find(b3=>b3.series[0]==seriesIdx),fillDir=band!=
null?band.dir:0,fillTo=series.fillTo(u4,seriesIdx,series.min,series.max,fillDir),fillToY=pxRound(valToPosY(fillTo,scaleY,yDim,yOff)),xShift,barWid,fullGap,colWid=xDim,
strokeWidth=pxRound(series.width*pxRatio),multiPath=!1,fillColors=null,fillPaths=null,strokeColors=null,strokePaths=null;dispFills!=null&&(strokeWidth==0||dispStrokes!=
null)&&(multiPath=!0,fillColors=dispFills.values(u4,seriesIdx,idx0,idx1),fillPaths=new Map,new Set(fillColors).forEach(color=>{color!=null&&fillPaths.set(color,
new Path2D)}),strokeWidth>0&&(strokeColors=dispStrokes.values(u4,seriesIdx,idx0,idx1),strokePaths=new Map,new Set(strokeColors).forEach(color=>{color!=null&&strokePaths.
set(color,new Path2D)})));let{x0,size:size2}=disp;if(x0!=null&&size2!=null){_align=1,dataX=x0.values(u4,seriesIdx,idx0,idx1),x0.unit==2&&(dataX=dataX.map(pct=>u4.
posToVal(xOff+pct*xDim,scaleX.key,!0)));let sizes=size2.values(u4,seriesIdx,idx0,idx1);size2.unit==2?barWid=sizes[0]*xDim:barWid=valToPosX(sizes[0],scaleX,xDim,
xOff)-valToPosX(0,scaleX,xDim,xOff),colWid=findColWidth(dataX,dataY,valToPosX,scaleX,xDim,xOff,colWid),fullGap=colWid-barWid+extraGap}else colWid=findColWidth(dataX,
dataY,valToPosX,scaleX,xDim,xOff,colWid),fullGap=colWid*gapFactor+extraGap,barWid=colWid-fullGap;fullGap<1&&(fullGap=0),strokeWidth>=barWid/2&&(strokeWidth=0),fullGap<
5&&(pxRound=retArg0);let insetStroke=fullGap>0,rawBarWid=colWid-fullGap-(insetStroke?strokeWidth:0);barWid=pxRound(clamp(rawBarWid,minWidth,maxWidth)),xShift=(_align==
0?barWid/2:_align==_dirX?0:barWid)-_align*_dirX*((_align==0?extraGap/2:0)+(insetStroke?strokeWidth/2:0));let _paths={stroke:null,fill:null,clip:null,band:null,gaps:null,
flags:0},stroke=multiPath?null:new Path2D,dataY0=null;if(band!=null)dataY0=u4.data[band.series[1]];else{let{y0,y1}=disp;y0!=null&&y1!=null&&(dataY=y1.values(u4,
seriesIdx,idx0,idx1),dataY0=y0.values(u4,seriesIdx,idx0,idx1))}let radVal=valRadius*barWid,radBase=baseRadius*barWid;for(let i4=_dirX==1?idx0:idx1;i4>=idx0&&i4<=
idx1;i4+=_dirX){let yVal=dataY[i4];if(yVal==null)continue;if(dataY0!=null){let yVal0=dataY0[i4]??0;if(yVal-yVal0==0)continue;fillToY=valToPosY(yVal0,scaleY,yDim,
yOff)}let xVal=scaleX.distr!=2||disp!=null?dataX[i4]:i4,xPos=valToPosX(xVal,scaleX,xDim,xOff),yPos=valToPosY(ifNull(yVal,fillTo),scaleY,yDim,yOff),lft=pxRound(xPos-
xShift),btm=pxRound(max(yPos,fillToY)),top=pxRound(min(yPos,fillToY)),barHgt=btm-top;if(yVal!=null){let rv=yVal<0?radBase:radVal,rb=yVal<0?radVal:radBase;multiPath?
(strokeWidth>0&&strokeColors[i4]!=null&&rect2(strokePaths.get(strokeColors[i4]),lft,top+floor(strokeWidth/2),barWid,max(0,barHgt-strokeWidth),rv,rb),fillColors[i4]!=
null&&rect2(fillPaths.get(fillColors[i4]),lft,top+floor(strokeWidth/2),barWid,max(0,barHgt-strokeWidth),rv,rb)):rect2(stroke,lft,top+floor(strokeWidth/2),barWid,
max(0,barHgt-strokeWidth),rv,rb),each(u4,seriesIdx,i4,lft-strokeWidth/2,top,barWid+strokeWidth,barHgt)}}return strokeWidth>0?_paths.stroke=multiPath?strokePaths:
stroke:multiPath||(_paths._fill=series.width==0?series._fill:series._stroke??series._fill,_paths.width=0),_paths.fill=multiPath?fillPaths:stroke,_paths})}function splineInterp(interp,opts){
let alignGaps=ifNull(opts?.alignGaps,0);return(u4,seriesIdx,idx0,idx1)=>orient(u4,seriesIdx,(series,dataX,dataY,scaleX,scaleY,valToPosX,valToPosY,xOff,yOff,xDim,yDim)=>{
[idx0,idx1]=nonNullIdxs(dataY,idx0,idx1);let pxRound=series.pxRound,pixelForX=val=>pxRound(valToPosX(val,scaleX,xDim,xOff)),pixelForY=val=>pxRound(valToPosY(val,
scaleY,yDim,yOff)),moveTo,bezierCurveTo,lineTo;scaleX.ori==0?(moveTo=moveToH,lineTo=lineToH,bezierCurveTo=bezierCurveToH):(moveTo=moveToV,lineTo=lineToV,bezierCurveTo=
bezierCurveToV);let dir=scaleX.dir*(scaleX.ori==0?1:-1),firstXPos=pixelForX(dataX[dir==1?idx0:idx1]),prevXPos=firstXPos,xCoords=[],yCoords=[];for(let i4=dir==1?
idx0:idx1;i4>=idx0&&i4<=idx1;i4+=dir)if(dataY[i4]!=null){let xVal=dataX[i4],xPos=pixelForX(xVal);xCoords.push(prevXPos=xPos),yCoords.push(pixelForY(dataY[i4]))}
let _paths={stroke:interp(xCoords,yCoords,moveTo,lineTo,bezierCurveTo,pxRound),fill:null,clip:null,band:null,gaps:null,flags:BAND_CLIP_FILL},stroke=_paths.stroke,
[bandFillDir,bandClipDir]=bandFillClipDirs(u4,seriesIdx);if(series.fill!=null||bandFillDir!=0){let fill=_paths.fill=new Path2D(stroke),fillTo=series.fillTo(u4,seriesIdx,
series.min,series.max,bandFillDir),fillToY=pixelForY(fillTo);lineTo(fill,prevXPos,fillToY),lineTo(fill,firstXPos,fillToY)}if(!series.spanGaps){let gaps2=[];gaps2.
push(...findGaps(dataX,dataY,idx0,idx1,dir,pixelForX,alignGaps)),_paths.gaps=gaps2=series.gaps(u4,seriesIdx,idx0,idx1,gaps2),_paths.clip=clipGaps(gaps2,scaleX.ori,
xOff,yOff,xDim,yDim)}return bandClipDir!=0&&(_paths.band=bandClipDir==2?[clipBandLine(u4,seriesIdx,idx0,idx1,stroke,-1),clipBandLine(u4,seriesIdx,idx0,idx1,stroke,
1)]:clipBandLine(u4,seriesIdx,idx0,idx1,stroke,bandClipDir)),_paths})}function monotoneCubic(opts){return splineInterp(_monotoneCubic,opts)}function _monotoneCubic(xs,ys,moveTo,lineTo,bezierCurveTo,pxRound){
let n3=xs.length;if(n3<2)return null;let path=new Path2D;if(moveTo(path,xs[0],ys[0]),n3==2)lineTo(path,xs[1],ys[1]);else{let ms=Array(n3),ds=Array(n3-1),dys=Array(
n3-1),dxs=Array(n3-1);for(let i4=0;i4<n3-1;i4++)dys[i4]=ys[i4+1]-ys[i4],dxs[i4]=xs[i4+1]-xs[i4],ds[i4]=dys[i4]/dxs[i4];ms[0]=ds[0];for(let i4=1;i4<n3-1;i4++)ds[i4]===
0||ds[i4-1]===0||ds[i4-1]>0!=ds[i4]>0?ms[i4]=0:(ms[i4]=3*(dxs[i4-1]+dxs[i4])/((2*dxs[i4]+dxs[i4-1])/ds[i4-1]+(dxs[i4]+2*dxs[i4-1])/ds[i4]),isFinite(ms[i4])||(ms[i4]=
0));ms[n3-1]=ds[n3-2];for(let i4=0;i4<n3-1;i4++)bezierCurveTo(path,xs[i4]+dxs[i4]/3,ys[i4]+ms[i4]*dxs[i4]/3,xs[i4+1]-dxs[i4]/3,ys[i4+1]-ms[i4+1]*dxs[i4]/3,xs[i4+
1],ys[i4+1])}return path}var cursorPlots=new Set;function invalidateRects(){for(let u4 of cursorPlots)u4.syncRect(!0)}domEnv&&(on(resize,win,invalidateRects),on(
scroll,win,invalidateRects,!0),on(dppxchange,win,()=>{uPlot.pxRatio=pxRatio}));var linearPath=linear(),pointsPath=points();function setDefaults(d5,xo,yo,initY){
return(initY?[d5[0],d5[1]].concat(d5.slice(2)):[d5[0]].concat(d5.slice(1))).map((o5,i4)=>setDefault(o5,i4,xo,yo))}function setDefaults2(d5,xyo){return d5.map((o5,i4)=>i4==
0?{}:assign({},xyo,o5))}function setDefault(o5,i4,xo,yo){return assign({},i4==0?xo:yo,o5)}function snapNumX(self,dataMin,dataMax){return dataMin==null?nullNullTuple:
[dataMin,dataMax]}var snapTimeX=snapNumX;function snapNumY(self,dataMin,dataMax){return dataMin==null?nullNullTuple:rangeNum(dataMin,dataMax,rangePad,!0)}function snapLogY(self,dataMin,dataMax,scale){
return dataMin==null?nullNullTuple:rangeLog(dataMin,dataMax,self.scales[scale].log,!1)}var snapLogX=snapLogY;function snapAsinhY(self,dataMin,dataMax,scale){return dataMin==
null?nullNullTuple:rangeAsinh(dataMin,dataMax,self.scales[scale].log,!1)}var snapAsinhX=snapAsinhY;function findIncr(minVal,maxVal,incrs,dim,minSpace){let intDigits=max(
numIntDigits(minVal),numIntDigits(maxVal)),delta=maxVal-minVal,incrIdx=closestIdx(minSpace/dim*delta,incrs);do{let foundIncr=incrs[incrIdx],foundSpace=dim*foundIncr/
delta;if(foundSpace>=minSpace&&intDigits+(foundIncr<5?fixedDec.get(foundIncr):0)<=17)return[foundIncr,foundSpace]}while(++incrIdx<incrs.length);return[0,0]}function pxRatioFont(font2){
let fontSize,fontSizeCss;return font2=font2.replace(/(\d+)px/,(m5,p1)=>(fontSize=round((fontSizeCss=+p1)*pxRatio))+"px"),[font2,fontSize,fontSizeCss]}function syncFontSize(axis){
axis.show&&[axis.font,axis.labelFont].forEach(f5=>{let size=roundDec(f5[2]*pxRatio,1);f5[0]=f5[0].replace(/[0-9.]+px/,size+"px"),f5[1]=size})}function uPlot(opts,data2,then){
let self={mode:ifNull(opts.mode,1)},mode=self.mode;function getHPos(val,scale,dim,off2){let pct=scale.valToPct(val);return off2+dim*(scale.dir==-1?1-pct:pct)}function getVPos(val,scale,dim,off2){
let pct=scale.valToPct(val);return off2+dim*(scale.dir==-1?pct:1-pct)}function getPos(val,scale,dim,off2){return scale.ori==0?getHPos(val,scale,dim,off2):getVPos(
val,scale,dim,off2)}self.valToPosH=getHPos,self.valToPosV=getVPos;let ready=!1;self.status=0;let root2=self.root=placeDiv(UPLOT);if(opts.id!=null&&(root2.id=opts.
id),addClass(root2,opts.class),opts.title){let title=placeDiv(TITLE,root2);title.textContent=opts.title}let can=placeTag("canvas"),ctx=self.ctx=can.getContext("\
2d"),wrap=placeDiv(WRAP,root2);on("click",wrap,e4=>{e4.target===over&&(mouseLeft1!=mouseLeft0||mouseTop1!=mouseTop0)&&drag.click(self,e4)},!0);let under=self.under=
placeDiv(UNDER,wrap);wrap.appendChild(can);let over=self.over=placeDiv(OVER,wrap);opts=copy2(opts);let pxAlign=+ifNull(opts.pxAlign,1),pxRound=pxRoundGen(pxAlign);
(opts.plugins||[]).forEach(p5=>{p5.opts&&(opts=p5.opts(self,opts)||opts)});let ms=opts.ms||.001,series=self.series=mode==1?setDefaults(opts.series||[],xSeriesOpts,
ySeriesOpts,!1):setDefaults2(opts.series||[null],xySeriesOpts),axes=self.axes=setDefaults(opts.axes||[],xAxisOpts,yAxisOpts,!0),scales=self.scales={},bands=self.
bands=opts.bands||[];bands.forEach(b3=>{b3.fill=fnOrSelf(b3.fill||null),b3.dir=ifNull(b3.dir,-1)});let xScaleKey=mode==2?series[1].facets[0].scale:series[0].scale,
drawOrderMap={axes:drawAxesGrid,series:drawSeries},drawOrder=(opts.drawOrder||["axes","series"]).map(key2=>drawOrderMap[key2]);function initValToPct(sc){let getVal=sc.
distr==3?val=>log10(val>0?val:sc.clamp(self,val,sc.min,sc.max,sc.key)):sc.distr==4?val=>asinh(val,sc.asinh):sc.distr==100?val=>sc.fwd(val):val=>val;return val=>{
let _val=getVal(val),{_min,_max}=sc,delta=_max-_min;return(_val-_min)/delta}}function initScale(scaleKey){let sc=scales[scaleKey];if(sc==null){let scaleOpts=(opts.
scales||EMPTY_OBJ)[scaleKey]||EMPTY_OBJ;if(scaleOpts.from!=null){initScale(scaleOpts.from);let sc2=assign({},scales[scaleOpts.from],scaleOpts,{key:scaleKey});sc2.
valToPct=initValToPct(sc2),scales[scaleKey]=sc2}else{sc=scales[scaleKey]=assign({},scaleKey==xScaleKey?xScaleOpts:yScaleOpts,scaleOpts),sc.key=scaleKey;let isTime=sc.
time,rn=sc.range,rangeIsArr=isArr(rn);if((scaleKey!=xScaleKey||mode==2&&!isTime)&&(rangeIsArr&&(rn[0]==null||rn[1]==null)&&(rn={min:rn[0]==null?autoRangePart:{mode:1,
hard:rn[0],soft:rn[0]},max:rn[1]==null?autoRangePart:{mode:1,hard:rn[1],soft:rn[1]}},rangeIsArr=!1),!rangeIsArr&&isObj(rn))){let cfg=rn;rn=(self2,dataMin,dataMax)=>dataMin==
null?nullNullTuple:rangeNum(dataMin,dataMax,cfg)}sc.range=fnOrSelf(rn||(isTime?snapTimeX:scaleKey==xScaleKey?sc.distr==3?snapLogX:sc.distr==4?snapAsinhX:snapNumX:
sc.distr==3?snapLogY:sc.distr==4?snapAsinhY:snapNumY)),sc.auto=fnOrSelf(rangeIsArr?!1:sc.auto),sc.clamp=fnOrSelf(sc.clamp||clampScale),sc._min=sc._max=null,sc.valToPct=
initValToPct(sc)}}}initScale("x"),initScale("y"),mode==1&&series.forEach(s4=>{initScale(s4.scale)}),axes.forEach(a5=>{initScale(a5.scale)});for(let k4 in opts.scales)
initScale(k4);let scaleX=scales[xScaleKey],xScaleDistr=scaleX.distr,valToPosX,valToPosY;scaleX.ori==0?(addClass(root2,ORI_HZ),valToPosX=getHPos,valToPosY=getVPos):
(addClass(root2,ORI_VT),valToPosX=getVPos,valToPosY=getHPos);let pendScales={};for(let k4 in scales){let sc=scales[k4];(sc.min!=null||sc.max!=null)&&(pendScales[k4]=
{min:sc.min,max:sc.max},sc.min=sc.max=null)}let _tzDate=opts.tzDate||(ts=>new Date(round(ts/ms))),_fmtDate=opts.fmtDate||fmtDate,_timeAxisSplits=ms==1?timeAxisSplitsMs(
_tzDate):timeAxisSplitsS(_tzDate),_timeAxisVals=timeAxisVals(_tzDate,timeAxisStamps(ms==1?_timeAxisStampsMs:_timeAxisStampsS,_fmtDate)),_timeSeriesVal=timeSeriesVal(
_tzDate,timeSeriesStamp(_timeSeriesStamp,_fmtDate)),activeIdxs=[],legend=self.legend=assign({},legendOpts,opts.legend),cursor=self.cursor=assign({},cursorOpts,{
drag:{y:mode==2}},opts.cursor),showLegend=legend.show,showCursor=cursor.show,markers=legend.markers;legend.idxs=activeIdxs,markers.width=fnOrSelf(markers.width),
markers.dash=fnOrSelf(markers.dash),markers.stroke=fnOrSelf(markers.stroke),markers.fill=fnOrSelf(markers.fill);let legendTable,legendHead,legendBody,legendRows=[],
legendCells=[],legendCols,multiValLegend=!1,NULL_LEGEND_VALUES={};if(legend.live){let getMultiVals=series[1]?series[1].values:null;multiValLegend=getMultiVals!=
null,legendCols=multiValLegend?getMultiVals(self,1,0):{_:0};for(let k4 in legendCols)NULL_LEGEND_VALUES[k4]=LEGEND_DISP}if(showLegend)if(legendTable=placeTag("t\
able",LEGEND,root2),legendBody=placeTag("tbody",null,legendTable),legend.mount(self,legendTable),multiValLegend){legendHead=placeTag("thead",null,legendTable,legendBody);
let head=placeTag("tr",null,legendHead);placeTag("th",null,head);for(var key in legendCols)placeTag("th",LEGEND_LABEL,head).textContent=key}else addClass(legendTable,
LEGEND_INLINE),legend.live&&addClass(legendTable,LEGEND_LIVE);let son={show:!0},soff={show:!1};function initLegendRow(s4,i4){if(i4==0&&(multiValLegend||!legend.
live||mode==2))return nullNullTuple;let cells=[],row=placeTag("tr",LEGEND_SERIES,legendBody,legendBody.childNodes[i4]);addClass(row,s4.class),s4.show||addClass(
row,OFF);let label=placeTag("th",null,row);if(markers.show){let indic=placeDiv(LEGEND_MARKER,label);if(i4>0){let width=markers.width(self,i4);width&&(indic.style.
border=width+"px "+markers.dash(self,i4)+" "+markers.stroke(self,i4)),indic.style.background=markers.fill(self,i4)}}let text=placeDiv(LEGEND_LABEL,label);s4.label instanceof
HTMLElement?text.appendChild(s4.label):text.textContent=s4.label,i4>0&&(markers.show||(text.style.color=s4.width>0?markers.stroke(self,i4):markers.fill(self,i4)),
onMouse("click",label,e4=>{if(cursor._lock)return;setCursorEvent(e4);let seriesIdx=series.indexOf(s4);if((e4.ctrlKey||e4.metaKey)!=legend.isolate){let isolate=series.
some((s5,i5)=>i5>0&&i5!=seriesIdx&&s5.show);series.forEach((s5,i5)=>{i5>0&&setSeries(i5,isolate?i5==seriesIdx?son:soff:son,!0,syncOpts.setSeries)})}else setSeries(
seriesIdx,{show:!s4.show},!0,syncOpts.setSeries)},!1),cursorFocus&&onMouse(mouseenter,label,e4=>{cursor._lock||(setCursorEvent(e4),setSeries(series.indexOf(s4),
FOCUS_TRUE,!0,syncOpts.setSeries))},!1));for(var key2 in legendCols){let v4=placeTag("td",LEGEND_VALUE,row);v4.textContent="--",cells.push(v4)}return[row,cells]}
let mouseListeners=new Map;function onMouse(ev,targ,fn,onlyTarg=!0){let targListeners=mouseListeners.get(targ)||{},listener=cursor.bind[ev](self,targ,fn,onlyTarg);
listener&&(on(ev,targ,targListeners[ev]=listener),mouseListeners.set(targ,targListeners))}function offMouse(ev,targ,fn){let targListeners=mouseListeners.get(targ)||
{};for(let k4 in targListeners)(ev==null||k4==ev)&&(off(k4,targ,targListeners[k4]),delete targListeners[k4]);ev==null&&mouseListeners.delete(targ)}let fullWidCss=0,
fullHgtCss=0,plotWidCss=0,plotHgtCss=0,plotLftCss=0,plotTopCss=0,_plotLftCss=plotLftCss,_plotTopCss=plotTopCss,_plotWidCss=plotWidCss,_plotHgtCss=plotHgtCss,plotLft=0,
plotTop=0,plotWid=0,plotHgt=0;self.bbox={};let shouldSetScales=!1,shouldSetSize=!1,shouldConvergeSize=!1,shouldSetCursor=!1,shouldSetSelect=!1,shouldSetLegend=!1;
function _setSize(width,height,force){(force||width!=self.width||height!=self.height)&&calcSize(width,height),resetYSeries(!1),shouldConvergeSize=!0,shouldSetSize=
!0,commit()}function calcSize(width,height){self.width=fullWidCss=plotWidCss=width,self.height=fullHgtCss=plotHgtCss=height,plotLftCss=plotTopCss=0,calcPlotRect(),
calcAxesRects();let bb=self.bbox;plotLft=bb.left=incrRound(plotLftCss*pxRatio,.5),plotTop=bb.top=incrRound(plotTopCss*pxRatio,.5),plotWid=bb.width=incrRound(plotWidCss*
pxRatio,.5),plotHgt=bb.height=incrRound(plotHgtCss*pxRatio,.5)}let CYCLE_LIMIT=3;function convergeSize(){let converged=!1,cycleNum=0;for(;!converged;){cycleNum++;
let axesConverged=axesCalc(cycleNum),paddingConverged=paddingCalc(cycleNum);converged=cycleNum==CYCLE_LIMIT||axesConverged&&paddingConverged,converged||(calcSize(
self.width,self.height),shouldSetSize=!0)}}function setSize({width,height}){_setSize(width,height)}self.setSize=setSize;function calcPlotRect(){let hasTopAxis=!1,
hasBtmAxis=!1,hasRgtAxis=!1,hasLftAxis=!1;axes.forEach((axis,i4)=>{if(axis.show&&axis._show){let{side,_size}=axis,isVt=side%2,labelSize=axis.label!=null?axis.labelSize:
0,fullSize=_size+labelSize;fullSize>0&&(isVt?(plotWidCss-=fullSize,side==3?(plotLftCss+=fullSize,hasLftAxis=!0):hasRgtAxis=!0):(plotHgtCss-=fullSize,side==0?(plotTopCss+=
fullSize,hasTopAxis=!0):hasBtmAxis=!0))}}),sidesWithAxes[0]=hasTopAxis,sidesWithAxes[1]=hasRgtAxis,sidesWithAxes[2]=hasBtmAxis,sidesWithAxes[3]=hasLftAxis,plotWidCss-=
_padding[1]+_padding[3],plotLftCss+=_padding[3],plotHgtCss-=_padding[2]+_padding[0],plotTopCss+=_padding[0]}function calcAxesRects(){let off1=plotLftCss+plotWidCss,
off2=plotTopCss+plotHgtCss,off3=plotLftCss,off0=plotTopCss;function incrOffset(side,size){switch(side){case 1:return off1+=size,off1-size;case 2:return off2+=size,
off2-size;case 3:return off3-=size,off3+size;case 0:return off0-=size,off0+size}}axes.forEach((axis,i4)=>{if(axis.show&&axis._show){let side=axis.side;axis._pos=
incrOffset(side,axis._size),axis.label!=null&&(axis._lpos=incrOffset(side,axis.labelSize))}})}if(cursor.dataIdx==null){let hov=cursor.hover,skip=hov.skip=new Set(
hov.skip??[]);skip.add(void 0);let prox=hov.prox=fnOrSelf(hov.prox),bias=hov.bias??=0;cursor.dataIdx=(self2,seriesIdx,cursorIdx,valAtPosX)=>{if(seriesIdx==0)return cursorIdx;
let idx2=cursorIdx,_prox=prox(self2,seriesIdx,cursorIdx,valAtPosX)??inf,withProx=_prox>=0&&_prox<inf,xDim=scaleX.ori==0?plotWidCss:plotHgtCss,cursorLft=cursor.left,
xValues=data2[0],yValues=data2[seriesIdx];if(skip.has(yValues[cursorIdx])){idx2=null;let nonNullLft=null,nonNullRgt=null,j3;if(bias==0||bias==-1)for(j3=cursorIdx;nonNullLft==
null&&j3-- >0;)skip.has(yValues[j3])||(nonNullLft=j3);if(bias==0||bias==1)for(j3=cursorIdx;nonNullRgt==null&&j3++<yValues.length;)skip.has(yValues[j3])||(nonNullRgt=
j3);if(nonNullLft!=null||nonNullRgt!=null)if(withProx){let lftPos=nonNullLft==null?-1/0:valToPosX(xValues[nonNullLft],scaleX,xDim,0),rgtPos=nonNullRgt==null?1/0:
valToPosX(xValues[nonNullRgt],scaleX,xDim,0),lftDelta=cursorLft-lftPos,rgtDelta=rgtPos-cursorLft;lftDelta<=rgtDelta?lftDelta<=_prox&&(idx2=nonNullLft):rgtDelta<=
_prox&&(idx2=nonNullRgt)}else idx2=nonNullRgt==null?nonNullLft:nonNullLft==null?nonNullRgt:cursorIdx-nonNullLft<=nonNullRgt-cursorIdx?nonNullLft:nonNullRgt}else
withProx&&abs(cursorLft-valToPosX(xValues[cursorIdx],scaleX,xDim,0))>_prox&&(idx2=null);return idx2}}let setCursorEvent=e4=>{cursor.event=e4};cursor.idxs=activeIdxs,
cursor._lock=!1;let points2=cursor.points;points2.show=fnOrSelf(points2.show),points2.size=fnOrSelf(points2.size),points2.stroke=fnOrSelf(points2.stroke),points2.
width=fnOrSelf(points2.width),points2.fill=fnOrSelf(points2.fill);let focus=self.focus=assign({},opts.focus||{alpha:.3},cursor.focus),cursorFocus=focus.prox>=0,
cursorOnePt=cursorFocus&&points2.one,cursorPts=[],cursorPtsLft=[],cursorPtsTop=[];function initCursorPt(s4,si){let pt=points2.show(self,si);if(pt instanceof HTMLElement)
return addClass(pt,CURSOR_PT),addClass(pt,s4.class),elTrans(pt,-10,-10,plotWidCss,plotHgtCss),over.insertBefore(pt,cursorPts[si]),pt}function initSeries(s4,i4){
if(mode==1||i4>0){let isTime=mode==1&&scales[s4.scale].time,sv=s4.value;s4.value=isTime?isStr(sv)?timeSeriesVal(_tzDate,timeSeriesStamp(sv,_fmtDate)):sv||_timeSeriesVal:
sv||numSeriesVal,s4.label=s4.label||(isTime?timeSeriesLabel:numSeriesLabel)}if(cursorOnePt||i4>0){s4.width=s4.width==null?1:s4.width,s4.paths=s4.paths||linearPath||
retNull,s4.fillTo=fnOrSelf(s4.fillTo||seriesFillTo),s4.pxAlign=+ifNull(s4.pxAlign,pxAlign),s4.pxRound=pxRoundGen(s4.pxAlign),s4.stroke=fnOrSelf(s4.stroke||null),
s4.fill=fnOrSelf(s4.fill||null),s4._stroke=s4._fill=s4._paths=s4._focus=null;let _ptDia=ptDia(max(1,s4.width),1),points3=s4.points=assign({},{size:_ptDia,width:max(
1,_ptDia*.2),stroke:s4.stroke,space:_ptDia*2,paths:pointsPath,_stroke:null,_fill:null},s4.points);points3.show=fnOrSelf(points3.show),points3.filter=fnOrSelf(points3.
filter),points3.fill=fnOrSelf(points3.fill),points3.stroke=fnOrSelf(points3.stroke),points3.paths=fnOrSelf(points3.paths),points3.pxAlign=s4.pxAlign}if(showLegend){
let rowCells=initLegendRow(s4,i4);legendRows.splice(i4,0,rowCells[0]),legendCells.splice(i4,0,rowCells[1]),legend.values.push(null)}if(showCursor){activeIdxs.splice(
i4,0,null);let pt=null;cursorOnePt?i4==0&&(pt=initCursorPt(s4,i4)):i4>0&&(pt=initCursorPt(s4,i4)),cursorPts.splice(i4,0,pt),cursorPtsLft.splice(i4,0,0),cursorPtsTop.
splice(i4,0,0)}fire("addSeries",i4)}function addSeries(opts2,si){si=si??series.length,opts2=mode==1?setDefault(opts2,si,xSeriesOpts,ySeriesOpts):setDefault(opts2,
si,{},xySeriesOpts),series.splice(si,0,opts2),initSeries(series[si],si)}self.addSeries=addSeries;function delSeries(i4){if(series.splice(i4,1),showLegend){legend.
values.splice(i4,1),legendCells.splice(i4,1);let tr=legendRows.splice(i4,1)[0];offMouse(null,tr.firstChild),tr.remove()}showCursor&&(activeIdxs.splice(i4,1),cursorPts.
splice(i4,1)[0].remove(),cursorPtsLft.splice(i4,1),cursorPtsTop.splice(i4,1)),fire("delSeries",i4)}self.delSeries=delSeries;let sidesWithAxes=[!1,!1,!1,!1];function initAxis(axis,i4){
if(axis._show=axis.show,axis.show){let isVt=axis.side%2,sc=scales[axis.scale];sc==null&&(axis.scale=isVt?series[1].scale:xScaleKey,sc=scales[axis.scale]);let isTime=sc.
time;axis.size=fnOrSelf(axis.size),axis.space=fnOrSelf(axis.space),axis.rotate=fnOrSelf(axis.rotate),isArr(axis.incrs)&&axis.incrs.forEach(incr=>{!fixedDec.has(
incr)&&fixedDec.set(incr,guessDec(incr))}),axis.incrs=fnOrSelf(axis.incrs||(sc.distr==2?wholeIncrs:isTime?ms==1?timeIncrsMs:timeIncrsS:numIncrs)),axis.splits=fnOrSelf(
axis.splits||(isTime&&sc.distr==1?_timeAxisSplits:sc.distr==3?logAxisSplits:sc.distr==4?asinhAxisSplits:numAxisSplits)),axis.stroke=fnOrSelf(axis.stroke),axis.grid.
stroke=fnOrSelf(axis.grid.stroke),axis.ticks.stroke=fnOrSelf(axis.ticks.stroke),axis.border.stroke=fnOrSelf(axis.border.stroke);let av=axis.values;axis.values=isArr(
av)&&!isArr(av[0])?fnOrSelf(av):isTime?isArr(av)?timeAxisVals(_tzDate,timeAxisStamps(av,_fmtDate)):isStr(av)?timeAxisVal(_tzDate,av):av||_timeAxisVals:av||numAxisVals,
axis.filter=fnOrSelf(axis.filter||(sc.distr>=3&&sc.log==10?log10AxisValsFilt:sc.distr==3&&sc.log==2?log2AxisValsFilt:retArg1)),axis.font=pxRatioFont(axis.font),
axis.labelFont=pxRatioFont(axis.labelFont),axis._size=axis.size(self,null,i4,0),axis._space=axis._rotate=axis._incrs=axis._found=axis._splits=axis._values=null,
axis._size>0&&(sidesWithAxes[i4]=!0,axis._el=placeDiv(AXIS,wrap))}}function autoPadSide(self2,side,sidesWithAxes2,cycleNum){let[hasTopAxis,hasRgtAxis,hasBtmAxis,
hasLftAxis]=sidesWithAxes2,ori=side%2,size=0;return ori==0&&(hasLftAxis||hasRgtAxis)&&(size=side==0&&!hasTopAxis||side==2&&!hasBtmAxis?round(xAxisOpts.size/3):0),
ori==1&&(hasTopAxis||hasBtmAxis)&&(size=side==1&&!hasRgtAxis||side==3&&!hasLftAxis?round(yAxisOpts.size/2):0),size}let padding=self.padding=(opts.padding||[autoPadSide,
autoPadSide,autoPadSide,autoPadSide]).map(p5=>fnOrSelf(ifNull(p5,autoPadSide))),_padding=self._padding=padding.map((p5,i4)=>p5(self,i4,sidesWithAxes,0)),dataLen,
i0=null,i1=null,idxs=mode==1?series[0].idxs:null,data0=null,viaAutoScaleX=!1;function setData(_data,_resetScales){if(data2=_data??[],self.data=self._data=data2,
mode==2){dataLen=0;for(let i4=1;i4<series.length;i4++)dataLen+=data2[i4][0].length}else{data2.length==0&&(self.data=self._data=data2=[[]]),data0=data2[0],dataLen=
data0.length;let scaleData=data2;if(xScaleDistr==2){scaleData=data2.slice();let _data0=scaleData[0]=Array(dataLen);for(let i4=0;i4<dataLen;i4++)_data0[i4]=i4}self.
_data=data2=scaleData}if(resetYSeries(!0),fire("setData"),xScaleDistr==2&&(shouldConvergeSize=!0),_resetScales!==!1){let xsc=scaleX;xsc.auto(self,viaAutoScaleX)?
autoScaleX():_setScale(xScaleKey,xsc.min,xsc.max),shouldSetCursor=shouldSetCursor||cursor.left>=0,shouldSetLegend=!0,commit()}}self.setData=setData;function autoScaleX(){
viaAutoScaleX=!0;let _min,_max;mode==1&&(dataLen>0?(i0=idxs[0]=0,i1=idxs[1]=dataLen-1,_min=data2[0][i0],_max=data2[0][i1],xScaleDistr==2?(_min=i0,_max=i1):_min==
_max&&(xScaleDistr==3?[_min,_max]=rangeLog(_min,_min,scaleX.log,!1):xScaleDistr==4?[_min,_max]=rangeAsinh(_min,_min,scaleX.log,!1):scaleX.time?_max=_min+round(86400/
ms):[_min,_max]=rangeNum(_min,_max,rangePad,!0))):(i0=idxs[0]=_min=null,i1=idxs[1]=_max=null)),_setScale(xScaleKey,_min,_max)}let ctxStroke,ctxFill,ctxWidth,ctxDash,
ctxJoin,ctxCap,ctxFont,ctxAlign,ctxBaseline,ctxAlpha;function setCtxStyle(stroke,width,dash,cap,fill,join2){stroke??=transparent,dash??=EMPTY_ARR,cap??="butt",fill??=
transparent,join2??="round",stroke!=ctxStroke&&(ctx.strokeStyle=ctxStroke=stroke),fill!=ctxFill&&(ctx.fillStyle=ctxFill=fill),width!=ctxWidth&&(ctx.lineWidth=ctxWidth=
width),join2!=ctxJoin&&(ctx.lineJoin=ctxJoin=join2),cap!=ctxCap&&(ctx.lineCap=ctxCap=cap),dash!=ctxDash&&ctx.setLineDash(ctxDash=dash)}function setFontStyle(font2,fill,align,baseline){
fill!=ctxFill&&(ctx.fillStyle=ctxFill=fill),font2!=ctxFont&&(ctx.font=ctxFont=font2),align!=ctxAlign&&(ctx.textAlign=ctxAlign=align),baseline!=ctxBaseline&&(ctx.
textBaseline=ctxBaseline=baseline)}function accScale(wsc,psc,facet2,data3,sorted=0){if(data3.length>0&&wsc.auto(self,viaAutoScaleX)&&(psc==null||psc.min==null)){
let _i0=ifNull(i0,0),_i1=ifNull(i1,data3.length-1),minMax=facet2.min==null?getMinMax(data3,_i0,_i1,sorted,wsc.distr==3):[facet2.min,facet2.max];wsc.min=min(wsc.
min,facet2.min=minMax[0]),wsc.max=max(wsc.max,facet2.max=minMax[1])}}let AUTOSCALE={min:null,max:null};function setScales(){for(let k4 in scales){let sc=scales[k4];
pendScales[k4]==null&&(sc.min==null||pendScales[xScaleKey]!=null&&sc.auto(self,viaAutoScaleX))&&(pendScales[k4]=AUTOSCALE)}for(let k4 in scales){let sc=scales[k4];
pendScales[k4]==null&&sc.from!=null&&pendScales[sc.from]!=null&&(pendScales[k4]=AUTOSCALE)}pendScales[xScaleKey]!=null&&resetYSeries(!0);let wipScales={};for(let k4 in pendScales){
let psc=pendScales[k4];if(psc!=null){let wsc=wipScales[k4]=copy2(scales[k4],fastIsObj);if(psc.min!=null)assign(wsc,psc);else if(k4!=xScaleKey||mode==2)if(dataLen==
0&&wsc.from==null){let minMax=wsc.range(self,null,null,k4);wsc.min=minMax[0],wsc.max=minMax[1]}else wsc.min=inf,wsc.max=-inf}}if(dataLen>0){series.forEach((s4,i4)=>{
if(mode==1){let k4=s4.scale,psc=pendScales[k4];if(psc==null)return;let wsc=wipScales[k4];if(i4==0){let minMax=wsc.range(self,wsc.min,wsc.max,k4);wsc.min=minMax[0],
wsc.max=minMax[1],i0=closestIdx(wsc.min,data2[0]),i1=closestIdx(wsc.max,data2[0]),i1-i0>1&&(data2[0][i0]<wsc.min&&i0++,data2[0][i1]>wsc.max&&i1--),s4.min=data0[i0],
s4.max=data0[i1]}else s4.show&&s4.auto&&accScale(wsc,psc,s4,data2[i4],s4.sorted);s4.idxs[0]=i0,s4.idxs[1]=i1}else if(i4>0&&s4.show&&s4.auto){let[xFacet,yFacet]=s4.
facets,xScaleKey2=xFacet.scale,yScaleKey=yFacet.scale,[xData,yData]=data2[i4],wscx=wipScales[xScaleKey2],wscy=wipScales[yScaleKey];wscx!=null&&accScale(wscx,pendScales[xScaleKey2],
xFacet,xData,xFacet.sorted),wscy!=null&&accScale(wscy,pendScales[yScaleKey],yFacet,yData,yFacet.sorted),s4.min=yFacet.min,s4.max=yFacet.max}});for(let k4 in wipScales){
let wsc=wipScales[k4],psc=pendScales[k4];if(wsc.from==null&&(psc==null||psc.min==null)){let minMax=wsc.range(self,wsc.min==inf?null:wsc.min,wsc.max==-inf?null:wsc.
max,k4);wsc.min=minMax[0],wsc.max=minMax[1]}}}for(let k4 in wipScales){let wsc=wipScales[k4];if(wsc.from!=null){let base=wipScales[wsc.from];if(base.min==null)wsc.
min=wsc.max=null;else{let minMax=wsc.range(self,base.min,base.max,k4);wsc.min=minMax[0],wsc.max=minMax[1]}}}let changed={},anyChanged=!1;for(let k4 in wipScales){
let wsc=wipScales[k4],sc=scales[k4];if(sc.min!=wsc.min||sc.max!=wsc.max){sc.min=wsc.min,sc.max=wsc.max;let distr=sc.distr;sc._min=distr==3?log10(sc.min):distr==
4?asinh(sc.min,sc.asinh):distr==100?sc.fwd(sc.min):sc.min,sc._max=distr==3?log10(sc.max):distr==4?asinh(sc.max,sc.asinh):distr==100?sc.fwd(sc.max):sc.max,changed[k4]=
anyChanged=!0}}if(anyChanged){series.forEach((s4,i4)=>{mode==2?i4>0&&changed.y&&(s4._paths=null):changed[s4.scale]&&(s4._paths=null)});for(let k4 in changed)shouldConvergeSize=
!0,fire("setScale",k4);showCursor&&cursor.left>=0&&(shouldSetCursor=shouldSetLegend=!0)}for(let k4 in pendScales)pendScales[k4]=null}function getOuterIdxs(ydata){
let _i0=clamp(i0-1,0,dataLen-1),_i1=clamp(i1+1,0,dataLen-1);for(;ydata[_i0]==null&&_i0>0;)_i0--;for(;ydata[_i1]==null&&_i1<dataLen-1;)_i1++;return[_i0,_i1]}function drawSeries(){
if(dataLen>0){let shouldAlpha=series.some(s4=>s4._focus)&&ctxAlpha!=focus.alpha;shouldAlpha&&(ctx.globalAlpha=ctxAlpha=focus.alpha),series.forEach((s4,i4)=>{if(i4>
0&&s4.show&&(cacheStrokeFill(i4,!1),cacheStrokeFill(i4,!0),s4._paths==null)){let _ctxAlpha=ctxAlpha;ctxAlpha!=s4.alpha&&(ctx.globalAlpha=ctxAlpha=s4.alpha);let _idxs=mode==
2?[0,data2[i4][0].length-1]:getOuterIdxs(data2[i4]);s4._paths=s4.paths(self,i4,_idxs[0],_idxs[1]),ctxAlpha!=_ctxAlpha&&(ctx.globalAlpha=ctxAlpha=_ctxAlpha)}}),series.
forEach((s4,i4)=>{if(i4>0&&s4.show){let _ctxAlpha=ctxAlpha;ctxAlpha!=s4.alpha&&(ctx.globalAlpha=ctxAlpha=s4.alpha),s4._paths!=null&&drawPath(i4,!1);{let _gaps=s4.
_paths!=null?s4._paths.gaps:null,show=s4.points.show(self,i4,i0,i1,_gaps),idxs2=s4.points.filter(self,i4,show,_gaps);(show||idxs2)&&(s4.points._paths=s4.points.
paths(self,i4,i0,i1,idxs2),drawPath(i4,!0))}ctxAlpha!=_ctxAlpha&&(ctx.globalAlpha=ctxAlpha=_ctxAlpha),fire("drawSeries",i4)}}),shouldAlpha&&(ctx.globalAlpha=ctxAlpha=
1)}}function cacheStrokeFill(si,_points){let s4=_points?series[si].points:series[si];s4._stroke=s4.stroke(self,si),s4._fill=s4.fill(self,si)}function drawPath(si,_points){
let s4=_points?series[si].points:series[si],{stroke,fill,clip:gapsClip,flags,_stroke:strokeStyle=s4._stroke,_fill:fillStyle=s4._fill,_width:width=s4.width}=s4._paths;
width=roundDec(width*pxRatio,3);let boundsClip=null,offset2=width%2/2;_points&&fillStyle==null&&(fillStyle=width>0?"#fff":strokeStyle);let _pxAlign=s4.pxAlign==
1&&offset2>0;if(_pxAlign&&ctx.translate(offset2,offset2),!_points){let lft=plotLft-width/2,top=plotTop-width/2,wid=plotWid+width,hgt=plotHgt+width;boundsClip=new Path2D,
boundsClip.rect(lft,top,wid,hgt)}_points?strokeFill(strokeStyle,width,s4.dash,s4.cap,fillStyle,stroke,fill,flags,gapsClip):fillStroke(si,strokeStyle,width,s4.dash,
s4.cap,fillStyle,stroke,fill,flags,boundsClip,gapsClip),_pxAlign&&ctx.translate(-offset2,-offset2)}function fillStroke(si,strokeStyle,lineWidth,lineDash,lineCap,fillStyle,strokePath,fillPath,flags,boundsClip,gapsClip){
let didStrokeFill=!1;flags!=0&&bands.forEach((b3,bi)=>{if(b3.series[0]==si){let lowerEdge=series[b3.series[1]],lowerData=data2[b3.series[1]],bandClip=(lowerEdge.
_paths||EMPTY_OBJ).band;isArr(bandClip)&&(bandClip=b3.dir==1?bandClip[0]:bandClip[1]);let gapsClip2,_fillStyle=null;lowerEdge.show&&bandClip&&hasData(lowerData,
i0,i1)?(_fillStyle=b3.fill(self,bi)||fillStyle,gapsClip2=lowerEdge._paths.clip):bandClip=null,strokeFill(strokeStyle,lineWidth,lineDash,lineCap,_fillStyle,strokePath,
fillPath,flags,boundsClip,gapsClip,gapsClip2,bandClip),didStrokeFill=!0}}),didStrokeFill||strokeFill(strokeStyle,lineWidth,lineDash,lineCap,fillStyle,strokePath,
fillPath,flags,boundsClip,gapsClip)}let CLIP_FILL_STROKE=BAND_CLIP_FILL|BAND_CLIP_STROKE;function strokeFill(strokeStyle,lineWidth,lineDash,lineCap,fillStyle,strokePath,fillPath,flags,boundsClip,gapsClip,gapsClip2,bandClip){
setCtxStyle(strokeStyle,lineWidth,lineDash,lineCap,fillStyle),(boundsClip||gapsClip||bandClip)&&(ctx.save(),boundsClip&&ctx.clip(boundsClip),gapsClip&&ctx.clip(
gapsClip)),bandClip?(flags&CLIP_FILL_STROKE)==CLIP_FILL_STROKE?(ctx.clip(bandClip),gapsClip2&&ctx.clip(gapsClip2),doFill(fillStyle,fillPath),doStroke(strokeStyle,
strokePath,lineWidth)):flags&BAND_CLIP_STROKE?(doFill(fillStyle,fillPath),ctx.clip(bandClip),doStroke(strokeStyle,strokePath,lineWidth)):flags&BAND_CLIP_FILL&&(ctx.
save(),ctx.clip(bandClip),gapsClip2&&ctx.clip(gapsClip2),doFill(fillStyle,fillPath),ctx.restore(),doStroke(strokeStyle,strokePath,lineWidth)):(doFill(fillStyle,
fillPath),doStroke(strokeStyle,strokePath,lineWidth)),(boundsClip||gapsClip||bandClip)&&ctx.restore()}function doStroke(strokeStyle,strokePath,lineWidth){lineWidth>
0&&(strokePath instanceof Map?strokePath.forEach((strokePath2,strokeStyle2)=>{ctx.strokeStyle=ctxStroke=strokeStyle2,ctx.stroke(strokePath2)}):strokePath!=null&&
strokeStyle&&ctx.stroke(strokePath))}function doFill(fillStyle,fillPath){fillPath instanceof Map?fillPath.forEach((fillPath2,fillStyle2)=>{ctx.fillStyle=ctxFill=
fillStyle2,ctx.fill(fillPath2)}):fillPath!=null&&fillStyle&&ctx.fill(fillPath)}function getIncrSpace(axisIdx,min2,max2,fullDim){let axis=axes[axisIdx],incrSpace;
if(fullDim<=0)incrSpace=[0,0];else{let minSpace=axis._space=axis.space(self,axisIdx,min2,max2,fullDim),incrs=axis._incrs=axis.incrs(self,axisIdx,min2,max2,fullDim,
minSpace);incrSpace=findIncr(min2,max2,incrs,fullDim,minSpace)}return axis._found=incrSpace}function drawOrthoLines(offs,filts,ori,side,pos0,len,width,stroke,dash,cap){
let offset2=width%2/2;pxAlign==1&&ctx.translate(offset2,offset2),setCtxStyle(stroke,width,dash,cap,stroke),ctx.beginPath();let x0,y0,x1,y1,pos1=pos0+(side==0||side==
3?-len:len);ori==0?(y0=pos0,y1=pos1):(x0=pos0,x1=pos1);for(let i4=0;i4<offs.length;i4++)filts[i4]!=null&&(ori==0?x0=x1=offs[i4]:y0=y1=offs[i4],ctx.moveTo(x0,y0),
ctx.lineTo(x1,y1));ctx.stroke(),pxAlign==1&&ctx.translate(-offset2,-offset2)}function axesCalc(cycleNum){let converged=!0;return axes.forEach((axis,i4)=>{if(!axis.
show)return;let scale=scales[axis.scale];if(scale.min==null){axis._show&&(converged=!1,axis._show=!1,resetYSeries(!1));return}else axis._show||(converged=!1,axis.
_show=!0,resetYSeries(!1));let side=axis.side,ori=side%2,{min:min2,max:max2}=scale,[_incr,_space]=getIncrSpace(i4,min2,max2,ori==0?plotWidCss:plotHgtCss);if(_space==
0)return;let forceMin=scale.distr==2,_splits=axis._splits=axis.splits(self,i4,min2,max2,_incr,_space,forceMin),splits=scale.distr==2?_splits.map(i5=>data0[i5]):
_splits,incr=scale.distr==2?data0[_splits[1]]-data0[_splits[0]]:_incr,values=axis._values=axis.values(self,axis.filter(self,splits,i4,_space,incr),i4,_space,incr);
axis._rotate=side==2?axis.rotate(self,values,i4,_space):0;let oldSize=axis._size;axis._size=ceil(axis.size(self,values,i4,cycleNum)),oldSize!=null&&axis._size!=
oldSize&&(converged=!1)}),converged}function paddingCalc(cycleNum){let converged=!0;return padding.forEach((p5,i4)=>{let _p=p5(self,i4,sidesWithAxes,cycleNum);_p!=
_padding[i4]&&(converged=!1),_padding[i4]=_p}),converged}function drawAxesGrid(){for(let i4=0;i4<axes.length;i4++){let axis=axes[i4];if(!axis.show||!axis._show)
continue;let side=axis.side,ori=side%2,x3,y5,fillStyle=axis.stroke(self,i4),shiftDir=side==0||side==3?-1:1,[_incr,_space]=axis._found;if(axis.label!=null){let shiftAmt2=axis.
labelGap*shiftDir,baseLpos=round((axis._lpos+shiftAmt2)*pxRatio);setFontStyle(axis.labelFont[0],fillStyle,"center",side==2?"top":BOTTOM),ctx.save(),ori==1?(x3=y5=
0,ctx.translate(baseLpos,round(plotTop+plotHgt/2)),ctx.rotate((side==3?-PI:PI)/2)):(x3=round(plotLft+plotWid/2),y5=baseLpos);let _label=isFn(axis.label)?axis.label(
self,i4,_incr,_space):axis.label;ctx.fillText(_label,x3,y5),ctx.restore()}if(_space==0)continue;let scale=scales[axis.scale],plotDim=ori==0?plotWid:plotHgt,plotOff=ori==
0?plotLft:plotTop,_splits=axis._splits,splits=scale.distr==2?_splits.map(i5=>data0[i5]):_splits,incr=scale.distr==2?data0[_splits[1]]-data0[_splits[0]]:_incr,ticks2=axis.
ticks,border2=axis.border,_tickSize=ticks2.show?ticks2.size:0,tickSize=round(_tickSize*pxRatio),axisGap=round((axis.alignTo==2?axis._size-_tickSize-axis.gap:axis.
gap)*pxRatio),angle=axis._rotate*-PI/180,basePos=pxRound(axis._pos*pxRatio),shiftAmt=(tickSize+axisGap)*shiftDir,finalPos=basePos+shiftAmt;y5=ori==0?finalPos:0,
x3=ori==1?finalPos:0;let font2=axis.font[0],textAlign=axis.align==1?LEFT:axis.align==2?RIGHT:angle>0?LEFT:angle<0?RIGHT:ori==0?"center":side==3?RIGHT:LEFT,textBaseline=angle||
ori==1?"middle":side==2?"top":BOTTOM;setFontStyle(font2,fillStyle,textAlign,textBaseline);let lineHeight=axis.font[1]*axis.lineGap,canOffs=_splits.map(val=>pxRound(
getPos(val,scale,plotDim,plotOff))),_values=axis._values;for(let i5=0;i5<_values.length;i5++){let val=_values[i5];if(val!=null){ori==0?x3=canOffs[i5]:y5=canOffs[i5],
val=""+val;let _parts=val.indexOf(`
`)==-1?[val]:val.split(/\n/gm);for(let j3=0;j3<_parts.length;j3++){let text=_parts[j3];angle?(ctx.save(),ctx.translate(x3,y5+j3*lineHeight),ctx.rotate(angle),ctx.
fillText(text,0,0),ctx.restore()):ctx.fillText(text,x3,y5+j3*lineHeight)}}}ticks2.show&&drawOrthoLines(canOffs,ticks2.filter(self,splits,i4,_space,incr),ori,side,
basePos,tickSize,roundDec(ticks2.width*pxRatio,3),ticks2.stroke(self,i4),ticks2.dash,ticks2.cap);let grid2=axis.grid;grid2.show&&drawOrthoLines(canOffs,grid2.filter(
self,splits,i4,_space,incr),ori,ori==0?2:1,ori==0?plotTop:plotLft,ori==0?plotHgt:plotWid,roundDec(grid2.width*pxRatio,3),grid2.stroke(self,i4),grid2.dash,grid2.
cap),border2.show&&drawOrthoLines([basePos],[1],ori==0?1:0,ori==0?1:2,ori==1?plotTop:plotLft,ori==1?plotHgt:plotWid,roundDec(border2.width*pxRatio,3),border2.stroke(
self,i4),border2.dash,border2.cap)}fire("drawAxes")}function resetYSeries(minMax){series.forEach((s4,i4)=>{i4>0&&(s4._paths=null,minMax&&(mode==1?(s4.min=null,s4.
max=null):s4.facets.forEach(f5=>{f5.min=null,f5.max=null})))})}let queuedCommit=!1,deferHooks=!1,hooksQueue=[];function flushHooks(){deferHooks=!1;for(let i4=0;i4<
hooksQueue.length;i4++)fire(...hooksQueue[i4]);hooksQueue.length=0}function commit(){queuedCommit||(microTask(_commit),queuedCommit=!0)}function batch(fn,_deferHooks=!1){
queuedCommit=!0,deferHooks=_deferHooks,fn(self),_commit(),_deferHooks&&hooksQueue.length>0&&queueMicrotask(flushHooks)}self.batch=batch;function _commit(){if(shouldSetScales&&
(setScales(),shouldSetScales=!1),shouldConvergeSize&&(convergeSize(),shouldConvergeSize=!1),shouldSetSize){if(setStylePx(under,LEFT,plotLftCss),setStylePx(under,
"top",plotTopCss),setStylePx(under,WIDTH,plotWidCss),setStylePx(under,HEIGHT,plotHgtCss),setStylePx(over,LEFT,plotLftCss),setStylePx(over,"top",plotTopCss),setStylePx(
over,WIDTH,plotWidCss),setStylePx(over,HEIGHT,plotHgtCss),setStylePx(wrap,WIDTH,fullWidCss),setStylePx(wrap,HEIGHT,fullHgtCss),can.width=round(fullWidCss*pxRatio),
can.height=round(fullHgtCss*pxRatio),axes.forEach(({_el,_show,_size,_pos,side})=>{if(_el!=null)if(_show){let posOffset=side===3||side===0?_size:0,isVt=side%2==1;
setStylePx(_el,isVt?"left":"top",_pos-posOffset),setStylePx(_el,isVt?"width":"height",_size),setStylePx(_el,isVt?"top":"left",isVt?plotTopCss:plotLftCss),setStylePx(
_el,isVt?"height":"width",isVt?plotHgtCss:plotWidCss),remClass(_el,OFF)}else addClass(_el,OFF)}),ctxStroke=ctxFill=ctxWidth=ctxJoin=ctxCap=ctxFont=ctxAlign=ctxBaseline=
ctxDash=null,ctxAlpha=1,syncRect(!0),plotLftCss!=_plotLftCss||plotTopCss!=_plotTopCss||plotWidCss!=_plotWidCss||plotHgtCss!=_plotHgtCss){resetYSeries(!1);let pctWid=plotWidCss/
_plotWidCss,pctHgt=plotHgtCss/_plotHgtCss;if(showCursor&&!shouldSetCursor&&cursor.left>=0){cursor.left*=pctWid,cursor.top*=pctHgt,vCursor&&elTrans(vCursor,round(
cursor.left),0,plotWidCss,plotHgtCss),hCursor&&elTrans(hCursor,0,round(cursor.top),plotWidCss,plotHgtCss);for(let i4=0;i4<cursorPts.length;i4++){let pt=cursorPts[i4];
pt!=null&&(cursorPtsLft[i4]*=pctWid,cursorPtsTop[i4]*=pctHgt,elTrans(pt,ceil(cursorPtsLft[i4]),ceil(cursorPtsTop[i4]),plotWidCss,plotHgtCss))}}if(select.show&&!shouldSetSelect&&
select.left>=0&&select.width>0){select.left*=pctWid,select.width*=pctWid,select.top*=pctHgt,select.height*=pctHgt;for(let prop in _hideProps)setStylePx(selectDiv,
prop,select[prop])}_plotLftCss=plotLftCss,_plotTopCss=plotTopCss,_plotWidCss=plotWidCss,_plotHgtCss=plotHgtCss}fire("setSize"),shouldSetSize=!1}fullWidCss>0&&fullHgtCss>
0&&(ctx.clearRect(0,0,can.width,can.height),fire("drawClear"),drawOrder.forEach(fn=>fn()),fire("draw")),select.show&&shouldSetSelect&&(setSelect(select),shouldSetSelect=
!1),showCursor&&shouldSetCursor&&(updateCursor(null,!0,!1),shouldSetCursor=!1),legend.show&&legend.live&&shouldSetLegend&&(setLegend(),shouldSetLegend=!1),ready||
(ready=!0,self.status=1,fire("ready")),viaAutoScaleX=!1,queuedCommit=!1}self.redraw=(rebuildPaths,recalcAxes)=>{shouldConvergeSize=recalcAxes||!1,rebuildPaths!==
!1?_setScale(xScaleKey,scaleX.min,scaleX.max):commit()};function setScale(key2,opts2){let sc=scales[key2];if(sc.from==null){if(dataLen==0){let minMax=sc.range(self,
opts2.min,opts2.max,key2);opts2.min=minMax[0],opts2.max=minMax[1]}if(opts2.min>opts2.max){let _min=opts2.min;opts2.min=opts2.max,opts2.max=_min}if(dataLen>1&&opts2.
min!=null&&opts2.max!=null&&opts2.max-opts2.min<1e-16)return;key2==xScaleKey&&sc.distr==2&&dataLen>0&&(opts2.min=closestIdx(opts2.min,data2[0]),opts2.max=closestIdx(
opts2.max,data2[0]),opts2.min==opts2.max&&opts2.max++),pendScales[key2]=opts2,shouldSetScales=!0,commit()}}self.setScale=setScale;let xCursor,yCursor,vCursor,hCursor,
rawMouseLeft0,rawMouseTop0,mouseLeft0,mouseTop0,rawMouseLeft1,rawMouseTop1,mouseLeft1,mouseTop1,dragging=!1,drag=cursor.drag,dragX=drag.x,dragY=drag.y;showCursor&&
(cursor.x&&(xCursor=placeDiv(CURSOR_X,over)),cursor.y&&(yCursor=placeDiv(CURSOR_Y,over)),scaleX.ori==0?(vCursor=xCursor,hCursor=yCursor):(vCursor=yCursor,hCursor=
xCursor),mouseLeft1=cursor.left,mouseTop1=cursor.top);let select=self.select=assign({show:!0,over:!0,left:0,width:0,top:0,height:0},opts.select),selectDiv=select.
show?placeDiv(SELECT,select.over?over:under):null;function setSelect(opts2,_fire){if(select.show){for(let prop in opts2)select[prop]=opts2[prop],prop in _hideProps&&
setStylePx(selectDiv,prop,opts2[prop]);_fire!==!1&&fire("setSelect")}}self.setSelect=setSelect;function toggleDOM(i4){if(series[i4].show)showLegend&&remClass(legendRows[i4],
OFF);else if(showLegend&&addClass(legendRows[i4],OFF),showCursor){let pt=cursorOnePt?cursorPts[0]:cursorPts[i4];pt!=null&&elTrans(pt,-10,-10,plotWidCss,plotHgtCss)}}
function _setScale(key2,min2,max2){setScale(key2,{min:min2,max:max2})}function setSeries(i4,opts2,_fire,_pub){opts2.focus!=null&&setFocus(i4),opts2.show!=null&&
series.forEach((s4,si)=>{si>0&&(i4==si||i4==null)&&(s4.show=opts2.show,toggleDOM(si),mode==2?(_setScale(s4.facets[0].scale,null,null),_setScale(s4.facets[1].scale,
null,null)):_setScale(s4.scale,null,null),commit())}),_fire!==!1&&fire("setSeries",i4,opts2),_pub&&pubSync("setSeries",self,i4,opts2)}self.setSeries=setSeries;function setBand(bi,opts2){
assign(bands[bi],opts2)}function addBand(opts2,bi){opts2.fill=fnOrSelf(opts2.fill||null),opts2.dir=ifNull(opts2.dir,-1),bi=bi??bands.length,bands.splice(bi,0,opts2)}
function delBand(bi){bi==null?bands.length=0:bands.splice(bi,1)}self.addBand=addBand,self.setBand=setBand,self.delBand=delBand;function setAlpha(i4,value){series[i4].
alpha=value,showCursor&&cursorPts[i4]!=null&&(cursorPts[i4].style.opacity=value),showLegend&&legendRows[i4]&&(legendRows[i4].style.opacity=value)}let closestDist,
closestSeries,focusedSeries,FOCUS_TRUE={focus:!0};function setFocus(i4){if(i4!=focusedSeries){let allFocused=i4==null,_setAlpha=focus.alpha!=1;series.forEach((s4,i22)=>{
if(mode==1||i22>0){let isFocused=allFocused||i22==0||i22==i4;s4._focus=allFocused?null:isFocused,_setAlpha&&setAlpha(i22,isFocused?1:focus.alpha)}}),focusedSeries=
i4,_setAlpha&&commit()}}showLegend&&cursorFocus&&onMouse(mouseleave,legendTable,e4=>{cursor._lock||(setCursorEvent(e4),focusedSeries!=null&&setSeries(null,FOCUS_TRUE,
!0,syncOpts.setSeries))});function posToVal(pos,scale,can2){let sc=scales[scale];can2&&(pos=pos/pxRatio-(sc.ori==1?plotTopCss:plotLftCss));let dim=plotWidCss;sc.
ori==1&&(dim=plotHgtCss,pos=dim-pos),sc.dir==-1&&(pos=dim-pos);let _min=sc._min,_max=sc._max,pct=pos/dim,sv=_min+(_max-_min)*pct,distr=sc.distr;return distr==3?
pow(10,sv):distr==4?sinh(sv,sc.asinh):distr==100?sc.bwd(sv):sv}function closestIdxFromXpos(pos,can2){let v4=posToVal(pos,xScaleKey,can2);return closestIdx(v4,data2[0],
i0,i1)}self.valToIdx=val=>closestIdx(val,data2[0]),self.posToIdx=closestIdxFromXpos,self.posToVal=posToVal,self.valToPos=(val,scale,can2)=>scales[scale].ori==0?
getHPos(val,scales[scale],can2?plotWid:plotWidCss,can2?plotLft:0):getVPos(val,scales[scale],can2?plotHgt:plotHgtCss,can2?plotTop:0),self.setCursor=(opts2,_fire,_pub)=>{
mouseLeft1=opts2.left,mouseTop1=opts2.top,updateCursor(null,_fire,_pub)};function setSelH(off2,dim){setStylePx(selectDiv,LEFT,select.left=off2),setStylePx(selectDiv,
WIDTH,select.width=dim)}function setSelV(off2,dim){setStylePx(selectDiv,"top",select.top=off2),setStylePx(selectDiv,HEIGHT,select.height=dim)}let setSelX=scaleX.
ori==0?setSelH:setSelV,setSelY=scaleX.ori==1?setSelH:setSelV;function syncLegend(){if(showLegend&&legend.live)for(let i4=mode==2?1:0;i4<series.length;i4++){if(i4==
0&&multiValLegend)continue;let vals=legend.values[i4],j3=0;for(let k4 in vals)legendCells[i4][j3++].firstChild.nodeValue=vals[k4]}}function setLegend(opts2,_fire){
if(opts2!=null&&(opts2.idxs?opts2.idxs.forEach((didx,sidx)=>{activeIdxs[sidx]=didx}):isUndef(opts2.idx)||activeIdxs.fill(opts2.idx),legend.idx=activeIdxs[0]),showLegend&&
legend.live){for(let sidx=0;sidx<series.length;sidx++)(sidx>0||mode==1&&!multiValLegend)&&setLegendValues(sidx,activeIdxs[sidx]);syncLegend()}shouldSetLegend=!1,
_fire!==!1&&fire("setLegend")}self.setLegend=setLegend;function setLegendValues(sidx,idx){let s4=series[sidx],src=sidx==0&&xScaleDistr==2?data0:data2[sidx],val;
multiValLegend?val=s4.values(self,sidx,idx)??NULL_LEGEND_VALUES:(val=s4.value(self,idx==null?null:src[idx],sidx,idx),val=val==null?NULL_LEGEND_VALUES:{_:val}),legend.
values[sidx]=val}function updateCursor(src,_fire,_pub){rawMouseLeft1=mouseLeft1,rawMouseTop1=mouseTop1,[mouseLeft1,mouseTop1]=cursor.move(self,mouseLeft1,mouseTop1),
cursor.left=mouseLeft1,cursor.top=mouseTop1,showCursor&&(vCursor&&elTrans(vCursor,round(mouseLeft1),0,plotWidCss,plotHgtCss),hCursor&&elTrans(hCursor,0,round(mouseTop1),
plotWidCss,plotHgtCss));let idx,noDataInRange=i0>i1;closestDist=inf,closestSeries=null;let xDim=scaleX.ori==0?plotWidCss:plotHgtCss,yDim=scaleX.ori==1?plotWidCss:
plotHgtCss;if(mouseLeft1<0||dataLen==0||noDataInRange){idx=cursor.idx=null;for(let i4=0;i4<series.length;i4++){let pt=cursorPts[i4];pt!=null&&elTrans(pt,-10,-10,
plotWidCss,plotHgtCss)}cursorFocus&&setSeries(null,FOCUS_TRUE,!0,src==null&&syncOpts.setSeries),legend.live&&(activeIdxs.fill(idx),shouldSetLegend=!0)}else{let mouseXPos,
valAtPosX,xPos;mode==1&&(mouseXPos=scaleX.ori==0?mouseLeft1:mouseTop1,valAtPosX=posToVal(mouseXPos,xScaleKey),idx=cursor.idx=closestIdx(valAtPosX,data2[0],i0,i1),
xPos=valToPosX(data2[0][idx],scaleX,xDim,0));let _ptLft=-10,_ptTop=-10,_ptWid=0,_ptHgt=0,_centered=!0,_ptFill="",_ptStroke="";for(let i4=mode==2?1:0;i4<series.length;i4++){
let s4=series[i4],idx1=activeIdxs[i4],yVal1=idx1==null?null:mode==1?data2[i4][idx1]:data2[i4][1][idx1],idx2=cursor.dataIdx(self,i4,idx,valAtPosX),yVal2=idx2==null?
null:mode==1?data2[i4][idx2]:data2[i4][1][idx2];if(shouldSetLegend=shouldSetLegend||yVal2!=yVal1||idx2!=idx1,activeIdxs[i4]=idx2,i4>0&&s4.show){let xPos2=idx2==
null?-10:idx2==idx?xPos:valToPosX(mode==1?data2[0][idx2]:data2[i4][0][idx2],scaleX,xDim,0),yPos=yVal2==null?-10:valToPosY(yVal2,mode==1?scales[s4.scale]:scales[s4.
facets[1].scale],yDim,0);if(cursorFocus&&yVal2!=null){let mouseYPos=scaleX.ori==1?mouseLeft1:mouseTop1,dist=abs(focus.dist(self,i4,idx2,yPos,mouseYPos));if(dist<
closestDist){let bias=focus.bias;if(bias!=0){let mouseYVal=posToVal(mouseYPos,s4.scale),seriesYValSign=yVal2>=0?1:-1,mouseYValSign=mouseYVal>=0?1:-1;mouseYValSign==
seriesYValSign&&(mouseYValSign==1?bias==1?yVal2>=mouseYVal:yVal2<=mouseYVal:bias==1?yVal2<=mouseYVal:yVal2>=mouseYVal)&&(closestDist=dist,closestSeries=i4)}else
closestDist=dist,closestSeries=i4}}if(shouldSetLegend||cursorOnePt){let hPos,vPos;scaleX.ori==0?(hPos=xPos2,vPos=yPos):(hPos=yPos,vPos=xPos2);let ptWid,ptHgt,ptLft,
ptTop,ptStroke,ptFill,centered=!0,getBBox=points2.bbox;if(getBBox!=null){centered=!1;let bbox=getBBox(self,i4);ptLft=bbox.left,ptTop=bbox.top,ptWid=bbox.width,ptHgt=
bbox.height}else ptLft=hPos,ptTop=vPos,ptWid=ptHgt=points2.size(self,i4);if(ptFill=points2.fill(self,i4),ptStroke=points2.stroke(self,i4),cursorOnePt)i4==closestSeries&&
closestDist<=focus.prox&&(_ptLft=ptLft,_ptTop=ptTop,_ptWid=ptWid,_ptHgt=ptHgt,_centered=centered,_ptFill=ptFill,_ptStroke=ptStroke);else{let pt=cursorPts[i4];pt!=
null&&(cursorPtsLft[i4]=ptLft,cursorPtsTop[i4]=ptTop,elSize(pt,ptWid,ptHgt,centered),elColor(pt,ptFill,ptStroke),elTrans(pt,ceil(ptLft),ceil(ptTop),plotWidCss,plotHgtCss))}}}}
if(cursorOnePt){let p5=focus.prox,focusChanged=focusedSeries==null?closestDist<=p5:closestDist>p5||closestSeries!=focusedSeries;if(shouldSetLegend||focusChanged){
let pt=cursorPts[0];pt!=null&&(cursorPtsLft[0]=_ptLft,cursorPtsTop[0]=_ptTop,elSize(pt,_ptWid,_ptHgt,_centered),elColor(pt,_ptFill,_ptStroke),elTrans(pt,ceil(_ptLft),
ceil(_ptTop),plotWidCss,plotHgtCss))}}}if(select.show&&dragging)if(src!=null){let[xKey,yKey]=syncOpts.scales,[matchXKeys,matchYKeys]=syncOpts.match,[xKeySrc,yKeySrc]=src.
cursor.sync.scales,sdrag=src.cursor.drag;if(dragX=sdrag._x,dragY=sdrag._y,dragX||dragY){let{left,top,width,height}=src.select,sori=src.scales[xKeySrc].ori,sPosToVal=src.
posToVal,sOff,sDim,sc,a5,b3,matchingX=xKey!=null&&matchXKeys(xKey,xKeySrc),matchingY=yKey!=null&&matchYKeys(yKey,yKeySrc);matchingX&&dragX?(sori==0?(sOff=left,sDim=
width):(sOff=top,sDim=height),sc=scales[xKey],a5=valToPosX(sPosToVal(sOff,xKeySrc),sc,xDim,0),b3=valToPosX(sPosToVal(sOff+sDim,xKeySrc),sc,xDim,0),setSelX(min(a5,
b3),abs(b3-a5))):setSelX(0,xDim),matchingY&&dragY?(sori==1?(sOff=left,sDim=width):(sOff=top,sDim=height),sc=scales[yKey],a5=valToPosY(sPosToVal(sOff,yKeySrc),sc,
yDim,0),b3=valToPosY(sPosToVal(sOff+sDim,yKeySrc),sc,yDim,0),setSelY(min(a5,b3),abs(b3-a5))):setSelY(0,yDim)}else hideSelect()}else{let rawDX=abs(rawMouseLeft1-
rawMouseLeft0),rawDY=abs(rawMouseTop1-rawMouseTop0);if(scaleX.ori==1){let _rawDX=rawDX;rawDX=rawDY,rawDY=_rawDX}dragX=drag.x&&rawDX>=drag.dist,dragY=drag.y&&rawDY>=
drag.dist;let uni=drag.uni;uni!=null?dragX&&dragY&&(dragX=rawDX>=uni,dragY=rawDY>=uni,!dragX&&!dragY&&(rawDY>rawDX?dragY=!0:dragX=!0)):drag.x&&drag.y&&(dragX||dragY)&&
(dragX=dragY=!0);let p0,p1;dragX&&(scaleX.ori==0?(p0=mouseLeft0,p1=mouseLeft1):(p0=mouseTop0,p1=mouseTop1),setSelX(min(p0,p1),abs(p1-p0)),dragY||setSelY(0,yDim)),
dragY&&(scaleX.ori==1?(p0=mouseLeft0,p1=mouseLeft1):(p0=mouseTop0,p1=mouseTop1),setSelY(min(p0,p1),abs(p1-p0)),dragX||setSelX(0,xDim)),!dragX&&!dragY&&(setSelX(
0,0),setSelY(0,0))}if(drag._x=dragX,drag._y=dragY,src==null){if(_pub){if(syncKey!=null){let[xSyncKey,ySyncKey]=syncOpts.scales;syncOpts.values[0]=xSyncKey!=null?
posToVal(scaleX.ori==0?mouseLeft1:mouseTop1,xSyncKey):null,syncOpts.values[1]=ySyncKey!=null?posToVal(scaleX.ori==1?mouseLeft1:mouseTop1,ySyncKey):null}pubSync(
mousemove,self,mouseLeft1,mouseTop1,plotWidCss,plotHgtCss,idx)}if(cursorFocus){let shouldPub=_pub&&syncOpts.setSeries,p5=focus.prox;focusedSeries==null?closestDist<=
p5&&setSeries(closestSeries,FOCUS_TRUE,!0,shouldPub):closestDist>p5?setSeries(null,FOCUS_TRUE,!0,shouldPub):closestSeries!=focusedSeries&&setSeries(closestSeries,
FOCUS_TRUE,!0,shouldPub)}}shouldSetLegend&&(legend.idx=idx,setLegend()),_fire!==!1&&fire("setCursor")}let rect2=null;Object.defineProperty(self,"rect",{get(){return rect2==
null&&syncRect(!1),rect2}});function syncRect(defer=!1){defer?rect2=null:(rect2=over.getBoundingClientRect(),fire("syncRect",rect2))}function mouseMove(e4,src,_l,_t,_w,_h,_i){
cursor._lock||dragging&&e4!=null&&e4.movementX==0&&e4.movementY==0||(cacheMouse(e4,src,_l,_t,_w,_h,_i,!1,e4!=null),e4!=null?updateCursor(null,!0,!0):updateCursor(
src,!0,!1))}function cacheMouse(e4,src,_l,_t,_w,_h,_i,initial,snap){if(rect2==null&&syncRect(!1),setCursorEvent(e4),e4!=null)_l=e4.clientX-rect2.left,_t=e4.clientY-
rect2.top;else{if(_l<0||_t<0){mouseLeft1=-10,mouseTop1=-10;return}let[xKey,yKey]=syncOpts.scales,syncOptsSrc=src.cursor.sync,[xValSrc,yValSrc]=syncOptsSrc.values,
[xKeySrc,yKeySrc]=syncOptsSrc.scales,[matchXKeys,matchYKeys]=syncOpts.match,rotSrc=src.axes[0].side%2==1,xDim=scaleX.ori==0?plotWidCss:plotHgtCss,yDim=scaleX.ori==
1?plotWidCss:plotHgtCss,_xDim=rotSrc?_h:_w,_yDim=rotSrc?_w:_h,_xPos=rotSrc?_t:_l,_yPos=rotSrc?_l:_t;if(xKeySrc!=null?_l=matchXKeys(xKey,xKeySrc)?getPos(xValSrc,
scales[xKey],xDim,0):-10:_l=xDim*(_xPos/_xDim),yKeySrc!=null?_t=matchYKeys(yKey,yKeySrc)?getPos(yValSrc,scales[yKey],yDim,0):-10:_t=yDim*(_yPos/_yDim),scaleX.ori==
1){let __l=_l;_l=_t,_t=__l}}snap&&(src==null||src.cursor.event.type==mousemove)&&((_l<=1||_l>=plotWidCss-1)&&(_l=incrRound(_l,plotWidCss)),(_t<=1||_t>=plotHgtCss-
1)&&(_t=incrRound(_t,plotHgtCss))),initial?(rawMouseLeft0=_l,rawMouseTop0=_t,[mouseLeft0,mouseTop0]=cursor.move(self,_l,_t)):(mouseLeft1=_l,mouseTop1=_t)}let _hideProps={
width:0,height:0,left:0,top:0};function hideSelect(){setSelect(_hideProps,!1)}let downSelectLeft,downSelectTop,downSelectWidth,downSelectHeight;function mouseDown(e4,src,_l,_t,_w,_h,_i){
dragging=!0,dragX=dragY=drag._x=drag._y=!1,cacheMouse(e4,src,_l,_t,_w,_h,_i,!0,!1),e4!=null&&(onMouse(mouseup,doc,mouseUp,!1),pubSync(mousedown,self,mouseLeft0,
mouseTop0,plotWidCss,plotHgtCss,null));let{left,top,width,height}=select;downSelectLeft=left,downSelectTop=top,downSelectWidth=width,downSelectHeight=height}function mouseUp(e4,src,_l,_t,_w,_h,_i){
dragging=drag._x=drag._y=!1,cacheMouse(e4,src,_l,_t,_w,_h,_i,!1,!0);let{left,top,width,height}=select,hasSelect=width>0||height>0,chgSelect=downSelectLeft!=left||
downSelectTop!=top||downSelectWidth!=width||downSelectHeight!=height;if(hasSelect&&chgSelect&&setSelect(select),drag.setScale&&hasSelect&&chgSelect){let xOff=left,
xDim=width,yOff=top,yDim=height;if(scaleX.ori==1&&(xOff=top,xDim=height,yOff=left,yDim=width),dragX&&_setScale(xScaleKey,posToVal(xOff,xScaleKey),posToVal(xOff+
xDim,xScaleKey)),dragY)for(let k4 in scales){let sc=scales[k4];k4!=xScaleKey&&sc.from==null&&sc.min!=inf&&_setScale(k4,posToVal(yOff+yDim,k4),posToVal(yOff,k4))}
hideSelect()}else cursor.lock&&(cursor._lock=!cursor._lock,updateCursor(src,!0,e4!=null));e4!=null&&(offMouse(mouseup,doc),pubSync(mouseup,self,mouseLeft1,mouseTop1,
plotWidCss,plotHgtCss,null))}function mouseLeave(e4,src,_l,_t,_w,_h,_i){if(cursor._lock)return;setCursorEvent(e4);let _dragging=dragging;if(dragging){let snapH=!0,
snapV=!0,snapProx=10,dragH,dragV;scaleX.ori==0?(dragH=dragX,dragV=dragY):(dragH=dragY,dragV=dragX),dragH&&dragV&&(snapH=mouseLeft1<=snapProx||mouseLeft1>=plotWidCss-
snapProx,snapV=mouseTop1<=snapProx||mouseTop1>=plotHgtCss-snapProx),dragH&&snapH&&(mouseLeft1=mouseLeft1<mouseLeft0?0:plotWidCss),dragV&&snapV&&(mouseTop1=mouseTop1<
mouseTop0?0:plotHgtCss),updateCursor(null,!0,!0),dragging=!1}mouseLeft1=-10,mouseTop1=-10,activeIdxs.fill(null),updateCursor(null,!0,!0),_dragging&&(dragging=_dragging)}
function dblClick(e4,src,_l,_t,_w,_h,_i){cursor._lock||(setCursorEvent(e4),autoScaleX(),hideSelect(),e4!=null&&pubSync(dblclick,self,mouseLeft1,mouseTop1,plotWidCss,
plotHgtCss,null))}function syncPxRatio(){axes.forEach(syncFontSize),_setSize(self.width,self.height,!0)}on(dppxchange,win,syncPxRatio);let events={};events.mousedown=
mouseDown,events.mousemove=mouseMove,events.mouseup=mouseUp,events.dblclick=dblClick,events.setSeries=(e4,src,idx,opts2)=>{let seriesIdxMatcher2=syncOpts.match[2];
idx=seriesIdxMatcher2(self,src,idx),idx!=-1&&setSeries(idx,opts2,!0,!1)},showCursor&&(onMouse(mousedown,over,mouseDown),onMouse(mousemove,over,mouseMove),onMouse(
mouseenter,over,e4=>{setCursorEvent(e4),syncRect(!1)}),onMouse(mouseleave,over,mouseLeave),onMouse(dblclick,over,dblClick),cursorPlots.add(self),self.syncRect=syncRect);
let hooks=self.hooks=opts.hooks||{};function fire(evName,a1,a22){deferHooks?hooksQueue.push([evName,a1,a22]):evName in hooks&&hooks[evName].forEach(fn=>{fn.call(
null,self,a1,a22)})}(opts.plugins||[]).forEach(p5=>{for(let evName in p5.hooks)hooks[evName]=(hooks[evName]||[]).concat(p5.hooks[evName])});let seriesIdxMatcher=(self2,src,srcSeriesIdx)=>srcSeriesIdx,
syncOpts=assign({key:null,setSeries:!1,filters:{pub:retTrue,sub:retTrue},scales:[xScaleKey,series[1]?series[1].scale:null],match:[retEq,retEq,seriesIdxMatcher],
values:[null,null]},cursor.sync);syncOpts.match.length==2&&syncOpts.match.push(seriesIdxMatcher),cursor.sync=syncOpts;let syncKey=syncOpts.key,sync=_sync(syncKey);
function pubSync(type,src,x3,y5,w5,h5,i4){syncOpts.filters.pub(type,src,x3,y5,w5,h5,i4)&&sync.pub(type,src,x3,y5,w5,h5,i4)}sync.sub(self);function pub(type,src,x3,y5,w5,h5,i4){
syncOpts.filters.sub(type,src,x3,y5,w5,h5,i4)&&events[type](null,src,x3,y5,w5,h5,i4)}self.pub=pub;function destroy(){sync.unsub(self),cursorPlots.delete(self),mouseListeners.
clear(),off(dppxchange,win,syncPxRatio),root2.remove(),legendTable?.remove(),fire("destroy")}self.destroy=destroy;function _init(){fire("init",opts,data2),setData(
data2||opts.data,!1),pendScales[xScaleKey]?setScale(xScaleKey,pendScales[xScaleKey]):autoScaleX(),shouldSetSelect=select.show&&(select.width>0||select.height>0),
shouldSetCursor=shouldSetLegend=!0,_setSize(opts.width,opts.height)}return series.forEach(initSeries),axes.forEach(initAxis),then?then instanceof HTMLElement?(then.
appendChild(root2),_init()):then(self,_init):_init(),self}uPlot.assign=assign;uPlot.fmtNum=fmtNum;uPlot.rangeNum=rangeNum;uPlot.rangeLog=rangeLog;uPlot.rangeAsinh=
rangeAsinh;uPlot.orient=orient;uPlot.pxRatio=pxRatio;uPlot.join=join;uPlot.fmtDate=fmtDate,uPlot.tzDate=tzDate;uPlot.sync=_sync;{uPlot.addGap=addGap,uPlot.clipGaps=
clipGaps;let paths=uPlot.paths={points};paths.linear=linear,paths.stepped=stepped,paths.bars=bars,paths.spline=monotoneCubic}var phone=matchMedia("(max-width: 719px)"),narrow=y3(phone.matches);phone.addEventListener("change",()=>{narrow.value=phone.matches});var night=matchMedia("(pre\
fers-color-scheme: dark)"),theme=y3(localStorage.getItem("theme")??"system"),dark=y3(night.matches),update=()=>{dark.value=theme.value==="dark"||theme.value==="\
system"&&night.matches};night.addEventListener("change",update);x2(()=>{localStorage.setItem("theme",theme.value),update(),document.documentElement.dataset.theme=
dark.value?"dark":"light"});var TABLE_ROWS_MAX=60,together=uPlot.sync("time");function token(name){return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()||"\
#888"}function Plot(props){let{title,unit,lines:lines2,times,show}=props,[asTable,setTable]=d2(!1);return a4("figure",{class:"plot panel",children:[a4("header",
{children:[a4("h2",{children:[title,a4("small",{children:unit})]}),a4("ul",{class:"legend",children:lines2.map(line=>a4("li",{children:[a4("i",{class:line.dash?
"dash":"",style:{background:token(line.color)},"aria-hidden":"true"}),line.name," ",a4("b",{children:show(last2(line.values))})]},line.name))}),a4(Button,{icon:"\
table",kind:"quiet","aria-pressed":asTable,"aria-label":`${title} as a table`,title:"Show as a table",onClick:()=>setTable(!asTable)})]}),asTable?a4(Values,{...props}):
times.length?a4(Canvas,{...props},`${dark.value}${lines2.length}`):a4("div",{class:"empty small",children:"No samples yet."})]})}function last2(values){for(let at=values.
length-1;at>=Math.max(0,values.length-5);at-=1)if(values[at]!=null)return values[at];return null}function Values({lines:lines2,times,show}){let step=Math.max(1,
Math.ceil(times.length/TABLE_ROWS_MAX)),rows=times.map((_5,at)=>at).filter(at=>(times.length-1-at)%step===0).reverse();return a4("div",{class:"scroll",tabIndex:0,
children:a4("table",{class:"plain",children:[a4("thead",{children:a4("tr",{children:[a4("th",{scope:"col",children:["Time (",offset(),")"]}),lines2.map(line=>a4(
"th",{scope:"col",class:"number",children:line.name},line.name))]})}),a4("tbody",{children:rows.map(at=>a4("tr",{children:[a4("th",{scope:"row",children:clock(times[at],
!0)}),lines2.map(line=>a4("td",{class:"number",children:show(line.values[at]??null)},line.name))]},at))})]})})}function Canvas(props){let host=T2(null),plot=T2(
null),current=T2(props);return current.current=props,A2(()=>{let element=host.current;if(!element)return;let width=()=>Math.max(200,element.clientWidth),text=token(
"muted"),grid2=token("line"),tip=document.createElement("div");tip.className="plot-tip",tip.hidden=!0;let options={width:width(),height:props.height??176,legend:{
show:!1},padding:[8,8,0,0],cursor:{sync:{key:together.key},drag:{x:!!props.zoom,y:!1,setScale:!1},points:{size:6},y:!1},scales:{x:{time:!0,range:(_5,low,high)=>current.
current.span??[low,high]},y:props.log?{distr:3,range:(_5,low,high)=>[10**Math.floor(Math.log10(Math.max(low||1,props.floor??1))),10**Math.ceil(Math.log10(Math.max(
high||10,10*(props.floor??1))))]}:{range:(_5,_low,high)=>[0,high>0?high*1.08:1]}},axes:[{stroke:text,grid:{stroke:grid2,width:1},ticks:{show:!1},font:"11px syst\
em-ui",size:22,gap:4,space:70,values:(_5,splits,_a,_b,step)=>splits.map(at=>step>=86400?date(at).slice(5):clock(at,step<60))},{stroke:text,grid:{stroke:grid2,width:1},
ticks:{show:!1},font:"11px system-ui",size:56,gap:4,space:28,values:(_5,splits)=>splits.map(value=>value==null?"":short(value,props)),filter:props.log?(_5,splits)=>splits.
map(value=>Math.abs(Math.log10(value)%1)<1e-6||Math.abs(Math.log10(value)%1)>1-1e-6?value:null):void 0}],series:[{},...props.lines.map(line=>({label:line.name,stroke:token(
line.color),width:1.5,dash:line.dash?[4,3]:void 0,points:{show:!1},spanGaps:!1,fill:line.fill?`${token(line.color)}22`:void 0,paths:props.bars?uPlot.paths.bars(
{size:[.85,60]}):void 0}))],hooks:{draw:[drawn=>drawMarks(drawn,current.current.marks??[])],setCursor:[drawn=>showTip(drawn,tip,current.current)],setSelect:[drawn=>{
let{left,width:width2}=drawn.select;width2>4&&current.current.zoom?.(drawn.posToVal(left,"x"),drawn.posToVal(left+width2,"x")),drawn.setSelect({left:0,top:0,width:0,
height:0},!1)}]}},made=plot.current=new uPlot(options,data(props),element);made.over.append(tip);let observer=new ResizeObserver(()=>made.setSize({width:width(),
height:props.height??176}));return observer.observe(element),()=>{observer.disconnect(),made.destroy(),plot.current=null}},[]),A2(()=>{plot.current?.setData(data(
props))}),a4("div",{class:"canvas",ref:host,role:"img","aria-label":`${props.title}, ${props.unit}: ${props.lines.map(line=>`${line.name} ${props.show(last2(line.
values))}`).join(", ")}`})}function data({times,lines:lines2,log,floor:floor2}){return[times,...lines2.map(line=>log?line.values.map(value=>value==null?null:Math.
max(value,floor2??1)):line.values)]}function short(value,props){return props.unit.includes("ms")||props.log?duration(value):props.unit.startsWith("B")?bytes(value):
value>=1e6?`${value/1e6}M`:value>=1e4?`${value/1e3}k`:String(Number(value.toPrecision(3)))}function drawMarks(plot,marks2){let{ctx}=plot,{left,top,width,height}=plot.
bbox;for(let mark of marks2){let x3=plot.valToPos(mark.unix_s,"x",!0);if(x3<left||x3>left+width)continue;ctx.save(),ctx.strokeStyle=ctx.fillStyle=token(mark.kind===
"config_failed"?"bad":"muted"),ctx.setLineDash([3*devicePixelRatio,3*devicePixelRatio]),ctx.lineWidth=devicePixelRatio,ctx.beginPath(),ctx.moveTo(x3,top),ctx.lineTo(
x3,top+height),ctx.stroke(),ctx.font=`${10*devicePixelRatio}px system-ui`;let word=mark.kind==="restart"?"start":mark.kind==="config"?"config":"config failed",room=ctx.
measureText(word).width+4*devicePixelRatio;ctx.textAlign=x3+room>left+width?"right":"left",ctx.fillText(word,x3+(ctx.textAlign==="left"?3:-3)*devicePixelRatio,top+
9*devicePixelRatio),ctx.restore()}}function showTip(plot,tip,{times,lines:lines2,show}){let at=plot.cursor.idx,inside=plot.cursor.left!=null&&plot.cursor.left>=
0&&at!=null;if(tip.hidden=!inside,!inside||at==null)return;tip.replaceChildren();let time=document.createElement("b");time.textContent=`${moment(times[at],!0)}`,
tip.append(time);for(let line of lines2){let row=document.createElement("span"),dot=document.createElement("i");dot.style.background=token(line.color),row.append(
dot,`${line.name} ${show(line.values[at]??null)}`),tip.append(row)}let left=plot.cursor.left??0;tip.style.left=left>plot.over.clientWidth/2?"":`${left+12}px`,tip.
style.right=left>plot.over.clientWidth/2?`${plot.over.clientWidth-left+12}px`:""}function Spark({values,tone="accent"}){let kept=values.slice(-60),high=Math.max(
...kept.map(value=>value??0),0);if(!high)return a4("svg",{class:"spark",viewBox:"0 0 60 16","aria-hidden":"true"});let path=kept.map((value,at)=>value==null?"":
`${at===0||kept[at-1]==null?"M":"L"}${at*60/Math.max(1,kept.length-1)} ${15-value/high*14}`).join("");return a4("svg",{class:`spark ${tone}`,viewBox:"0 0 60 16",
preserveAspectRatio:"none","aria-hidden":"true",children:a4("path",{d:path})})}var FILE="./editor.js",loaded=null;function Code(props){let host=T2(null),editor=T2(null),current=T2(props);current.current=props;let[failure,setFailure]=d2(null),
[ready,setReady]=d2(!1);return A2(()=>{let gone=!1;return loaded??=import(FILE),loaded.then(code=>{gone||!host.current||(editor.current=code.open(host.current,{
text:current.current.text,label:props.label,readOnly:props.readOnly??!1,colour:token,change:text=>current.current.change(text),undo:()=>current.current.undo(),redo:()=>current.
current.redo(),save:()=>current.current.save()}),editor.current.problems(current.current.problems),setReady(!0))}).catch(error=>{loaded=null,setFailure(error)}),
()=>{gone=!0,editor.current?.end(),editor.current=null}},[]),A2(()=>{editor.current?.set(props.text)},[props.text,ready]),A2(()=>{editor.current?.problems(props.
problems)},[props.problems,ready]),A2(()=>{editor.current?.theme()},[dark.value,ready]),A2(()=>{props.reveal&&editor.current?.reveal(props.reveal.at)},[props.reveal,
ready]),failure?a4($,{children:[a4(ErrorBox,{failure:"The editor could not be loaded. The text can be changed here without it."}),a4("textarea",{"aria-label":props.
label,rows:24,value:props.text,readOnly:props.readOnly,onInput:event=>props.change(event.currentTarget.value)})]}):a4("div",{class:"code",ref:host})}var SECTIONS=[{title:"Basics",inputs:[{path:"name",name:"Name",kind:"text"},{path:"active",name:"Serves requests",kind:"flag"},{path:"proxy.listen_path",name:"L\
isten path",kind:"mono"},{path:"domain",name:"Host",kind:"mono",placeholder:"any"},{path:"proxy.target_url",name:"Upstream",kind:"mono",wide:!0},{path:"proxy.st\
rip_listen_path",name:"Remove the listen path from requests",kind:"flag"},{path:"proxy.preserve_host_header",name:"Send the client's Host to the upstream",kind:"\
flag"}]},{title:"Several upstreams",inputs:[{path:"proxy.enable_load_balancing",name:"Spread requests over these",kind:"flag",wide:!0},{path:"proxy.target_list",
name:"Targets, one a line",kind:"lines",wide:!0}]},{title:"Who may call",inputs:[{path:"use_keyless",name:"Everybody, without a key",kind:"flag"},{path:"strip_a\
uth_data",name:"Remove the credentials before the upstream",kind:"flag"},{path:"auth.auth_header_name",name:"Header with the key",kind:"mono",placeholder:"Autho\
rization"},{path:"auth.use_param",name:"Accept the key as a parameter too",kind:"flag"},{path:"use_basic_auth",name:"Names and passwords",kind:"flag"},{path:"en\
able_jwt",name:"JSON Web Tokens",kind:"flag"},{path:"enable_signature_checking",name:"Signatures (HMAC)",kind:"flag"},{path:"use_oauth2",name:"OAuth 2.0",kind:"\
flag"},{path:"allowed_ips",name:"Only these addresses, one a line",kind:"lines"},{path:"enable_ip_whitelisting",name:"Accept only the addresses above",kind:"fla\
g"}]},{title:"Limits",inputs:[{path:"global_rate_limit.rate",name:"Requests of all callers together",kind:"number",placeholder:"no limit",min:0},{path:"global_r\
ate_limit.per",name:"per seconds",kind:"number",min:0},{path:"disable_rate_limit",name:"Rate limits of keys apply",kind:"flag",inverse:!0},{path:"disable_quota",
name:"Quotas of keys apply",kind:"flag",inverse:!0}]},{title:"More",inputs:[{path:"CORS.enable",name:"Answer browsers of other origins (CORS)",kind:"flag"},{path:"\
CORS.allowed_origins",name:"Allowed origins, one a line",kind:"lines"},{path:"cache_options.enable_cache",name:"Cache responses",kind:"flag"},{path:"cache_optio\
ns.cache_timeout",name:"for seconds",kind:"number",min:0},{path:"do_not_track",name:"Record requests",kind:"flag",inverse:!0},{path:"tags",name:"Tags, one a lin\
e",kind:"lines"}]}];function DefinitionForm({text,change:change2,readOnly,problems,broken}){let values=w2(()=>broken?null:Object.fromEntries(SECTIONS.flatMap(section=>section.
inputs).map(input=>[input.path,valueAt(text,input.path.split("."))])),[text,broken]);if(!values)return a4(Panel,{title:"Form",children:a4("div",{class:"body",children:a4(
Note,{tone:"bad",icon:"alert",children:"The text is not JSON at the moment, so the form has nothing to show. Correct the marked line, or undo."})})});let elsewhere=problems.
filter(one=>!SECTIONS.some(section=>section.inputs.some(input=>one.path===`$.${input.path}`)));return a4(Panel,{title:"Form",note:"other fields stay as they are",
actions:elsewhere.length?a4(Badge,{tone:"warn",children:[elsewhere.length," in JSON only"]}):void 0,children:a4("div",{class:"body form",children:SECTIONS.map(section=>a4(
$,{children:[a4("h3",{children:section.title}),section.inputs.map(input=>a4(One,{input,value:values[input.path],readOnly,problem:problems.find(one=>one.path===`\
$.${input.path}`),write:value=>change2(set(text,input.path.split("."),value))},input.path))]}))})})}function One({input,value,readOnly,problem,write}){if(input.
kind==="flag"){let on2=input.inverse?!value:!!value;return a4("label",{class:`choice ${input.wide?"field wide":""}`,children:[a4("input",{type:"checkbox",checked:on2,
disabled:readOnly,onChange:()=>write(input.inverse?on2:!on2)}),input.name]})}if(input.kind==="lines"){let list=Array.isArray(value)?value:[];return list.some(one=>typeof one!=
"string")?a4(Field,{label:input.name,wide:input.wide,hint:"Its entries are not plain texts; change them in the JSON.",children:a4("input",{disabled:!0,value:`${list.
length} entries`})}):a4(Field,{label:input.name,wide:input.wide,error:problem?.message,children:a4("textarea",{rows:Math.min(6,Math.max(2,list.length+1)),readOnly,
value:list.join(`
`),onChange:event=>{let lines2=event.currentTarget.value.split(`
`).map(line=>line.trim()).filter(Boolean);write(lines2.length||value?lines2:void 0)}})})}return a4(Field,{label:input.name,wide:input.wide,hint:input.hint,error:problem?.
level==="ignored"?void 0:problem?.message,children:a4("input",{class:input.kind==="mono"?"mono":"",type:input.kind==="number"?"number":"text",min:input.min,step:"\
any",placeholder:input.placeholder,readOnly,value:value??"","aria-invalid":problem?.level==="error"||void 0,onInput:event=>{let typed=event.currentTarget.value;
input.kind==="number"?typed===""?write(void 0):Number.isFinite(Number(typed))&&write(Number(typed)):write(typed===""&&value===void 0?void 0:typed)}})})}var STEPS_MAX=200,STEP_MS=700,CHECK_MS=400,pretty=value=>`${JSON.stringify(value,null,2)}
`;function useDocument(start2){let[past,set2]=d2({text:start2,back:[],forth:[],at:0});return{text:past.text,canUndo:past.back.length>0,canRedo:past.forth.length>
0,change:text=>set2(old=>{if(text===old.text)return old;let now2=performance.now();return{text,back:now2-old.at<STEP_MS&&old.back.length?old.back:[...old.back,old.
text].slice(-STEPS_MAX),forth:[],at:now2}}),undo:()=>set2(old=>old.back.length?{text:old.back.at(-1),back:old.back.slice(0,-1),forth:[...old.forth,old.text],at:0}:
old),redo:()=>set2(old=>old.forth.length?{text:old.forth.at(-1),back:[...old.back,old.text],forth:old.forth.slice(0,-1),at:0}:old),restart:text=>set2({text,back:[],
forth:[],at:0})}}function Definition({id,stored,reload}){let[base,setBase]=d2({text:pretty(stored.value),etag:stored.etag}),document_=useDocument(base.text),{text}=document_,
[problems,setProblems]=d2([]),[checked,setChecked]=d2(null),[checkFailure,setCheckFailure]=d2(null),[saving,setSaving]=d2(!1),[conflict,setConflict]=d2(null),[after,
setAfter]=d2(null),[reveal,setReveal]=d2(),writable=session.value?.writable.apis??!1,readOnly=narrow.value||!may("editor")||!writable,view=narrow.value?"json":route.
value.query.get("view")??"both",dirty=text!==base.text;A2(()=>{guard.value=dirty?()=>confirm("Leave without saving? The changes are lost."):null;let leave=event=>{
dirty&&event.preventDefault()};return addEventListener("beforeunload",leave),()=>removeEventListener("beforeunload",leave)},[dirty]),A2(()=>()=>{guard.value=null},
[]);let tree=w2(()=>read2(text),[text]);A2(()=>{if(isFault(tree)){setProblems([{level:"error",path:"$",message:tree.message,...place(text,tree.at)}]),setChecked(
text);return}let control=new AbortController,timer=setTimeout(()=>{call("POST",`check/api${query({id})}`,text,{signal:control.signal}).then(found=>{setProblems(
found.problems),setChecked(text),setCheckFailure(null)},failure=>{control.signal.aborted||(setCheckFailure(failure),setChecked(text))})},CHECK_MS);return()=>{clearTimeout(
timer),control.abort()}},[text]);let placed=w2(()=>problems.map(problem=>{if(isFault(tree))return{...problem,from:tree.at,to:tree.at+1,line:place(text,tree.at).
line};let{node,nameFrom}=find(tree,steps(problem.path)),from=nameFrom??node.from;return{...problem,from,to:node.kind==="value"?node.to:from+1,line:place(text,from).
line}}),[problems,tree]),errors=problems.filter(one=>one.level==="error").length,turn=T2(0),jump=at=>{view==="form"&&refine({view:"both"}),setReveal({at,turn:++turn.
current})},store=async(etag,content=text)=>{try{let answer=await ask("PUT",`apis/${segment(id)}`,content,etag?{headers:{"If-Match":etag}}:{});await get("reload?\
block=true");let fresh=await ask("GET",`apis/${segment(id)}`),previous=base.text;setBase({text:pretty(fresh.value),etag:fresh.etag??answer.etag}),document_.restart(
pretty(fresh.value)),setConflict(null),setSaving(!1),setAfter({text:previous,at:Date.now()/1e3}),say("ok",`Saved. ${answer.value.shared||(now.value?.nodes.length??
1)===1?"It serves from the next request.":`Only ${visible(answer.value.node??session.value?.node)} has it: gateways do not share definitions.`}`),reload()}catch(failure){
if(failure instanceof Failure&&failure.status===412){setSaving(!1),setConflict(failure.body);return}throw failure}};return a4($,{children:[a4("div",{class:"edit\
or-bar",children:[!narrow.value&&a4("span",{class:"segments",role:"group","aria-label":"View",children:["form","both","json"].map(one=>a4("button",{type:"button",
"aria-pressed":view===one,onClick:()=>refine({view:one}),children:one==="json"?"JSON":one==="form"?"Form":"Both"},one))}),checked!==text?a4(Badge,{tone:"muted",
children:"checking"}):checkFailure?a4(Badge,{tone:"warn",title:checkFailure.message,children:"not checked"}):errors?a4(Badge,{tone:"bad",children:[errors," ",errors===
1?"error":"errors"]}):a4(Badge,{tone:"ok",children:"valid"}),dirty&&a4(Badge,{tone:"accent",children:"changed"}),!readOnly&&a4($,{children:[a4(Button,{icon:"und\
o",kind:"quiet","aria-label":"Undo",title:"Undo (Ctrl-Z)",disabled:!document_.canUndo,onClick:document_.undo}),a4(Button,{icon:"redo",kind:"quiet","aria-label":"\
Redo",disabled:!document_.canRedo,onClick:document_.redo})]}),a4(Button,{icon:"copy",kind:"quiet",onClick:()=>{copy(text,"JSON copied")},children:"Copy JSON"}),
!readOnly&&a4(Button,{kind:"primary",disabled:!dirty||errors>0,title:errors?"Errors must be corrected first":void 0,onClick:()=>setSaving(!0),children:"Save"})]}),
readOnly&&a4(Note,{children:narrow.value?"Definitions are read-only on narrow screens.":may("editor")?"This gateway's definitions come from a read-only place, s\
uch as a ConfigMap or Git. Change them there; this page checks and copies.":"Your role can view definitions, not change them."}),after&&a4(After,{id,saved:after,
undo:()=>{store(base.etag,after.text).then(()=>setAfter(null),failure=>say("bad",failure.message))},close:()=>setAfter(null)}),a4("div",{class:`editor ${view===
"both"?"":"single"}`,children:[view!=="json"&&a4(DefinitionForm,{text,change:document_.change,readOnly,problems,broken:isFault(tree)}),a4("div",{class:"stack",children:[
view!=="form"&&a4(Code,{text,label:"Definition as JSON",readOnly,problems:placed,change:document_.change,undo:document_.undo,redo:document_.redo,save:()=>{dirty&&
!errors&&setSaving(!0)},reveal}),checkFailure?a4(ErrorBox,{failure:checkFailure}):null,placed.length>0&&a4(Panel,{title:"Problems",note:`${errors} of ${placed.length}\
 prevent saving`,children:a4("ul",{class:"problems",children:placed.map((one,index)=>a4("li",{class:one.level==="error"?"bad":one.level==="warning"?"warn":"mute\
d",children:[a4(Icon,{name:one.level==="ignored"?"info":"alert"}),a4("button",{type:"button",onClick:()=>jump(one.from),children:["Line ",one.line,", ",visible(
one.path)]}),a4("p",{children:[a4("b",{class:"sr",children:[one.level,": "]}),a4(Text,{children:one.message})]})]},index))})})]})]}),saving&&a4(Save,{old:base.text,
text,save:()=>store(base.etag),close:()=>setSaving(!1)}),conflict&&a4(Conflict,{conflict,mine:text,base:base.text,close:()=>setConflict(null),theirs:()=>{let theirs=pretty(
conflict.current);setBase({text:theirs,etag:conflict.etag}),document_.restart(theirs),setConflict(null)},merge:()=>{setBase({text:pretty(conflict.current),etag:conflict.
etag}),setConflict(null),say("warn","Your text is kept and now compares with the stored one. Look at the differences before you save.")}})]})}function Diff({old,
now:now2,label="What changes"}){let rows=lines(old,now2);return a4("div",{class:"diff",role:"group","aria-label":label,tabIndex:0,children:rows.length===0?a4("d\
iv",{children:[a4("span",{}),a4("span",{children:"no difference"})]}):rows.map((row,at)=>a4("div",{class:row.kind==="skip"?"skip-lines":row.kind,children:[a4("s\
pan",{"aria-label":row.kind==="add"?"added":row.kind==="del"?"removed":void 0,children:row.kind==="add"?"+":row.kind==="del"?"-":""}),a4("span",{children:visible(
row.text)})]},at))})}function Save({old,text,save,close}){let[failure,setFailure]=d2(null),[busy,setBusy]=d2(!1),nodes2=now.value?.nodes??[],run=()=>{setBusy(!0),
setFailure(null),save().catch(setFailure).finally(()=>setBusy(!1))};return a4(Dialog,{title:"Save these changes?",close,wide:!0,footer:a4($,{children:[a4("span",
{children:nodes2.length>1?`${nodes2.length} gateways are in service.`:"It serves from the next request; open connections are kept."}),a4(Button,{onClick:close,children:"\
Back"}),a4(Button,{kind:"primary",autofocus:!0,disabled:busy,onClick:run,children:busy?"Saving":"Save"})]}),children:[failure?a4(Note,{tone:"bad",icon:"alert",children:[
"Not saved. ",a4(Text,{children:failure.message})," The previous version still serves."]}):null,a4(Diff,{old,now:text})]})}function Conflict({conflict,mine,base,
theirs,merge,close}){let last3=conflict.changes?.[0];return a4(Dialog,{title:"Somebody else saved first",close,wide:!0,footer:a4($,{children:[a4("span",{}),a4(Button,
{onClick:theirs,children:"Take theirs"}),a4(Button,{kind:"primary",onClick:merge,children:"Keep mine and compare"})]}),children:[a4(Note,{tone:"warn",icon:"aler\
t",children:["Not saved. ",last3?a4($,{children:[a4("b",{children:a4(Text,{children:last3.user})})," changed this definition at ",moment(last3.time,!0),"."]}):"\
This definition was changed since you opened it."," Nothing of yours is lost."]}),a4("h3",{children:"Their changes"}),a4(Diff,{old:base,now:pretty(conflict.current),
label:"Their changes"}),a4("h3",{children:"Yours against what is stored now"}),a4(Diff,{old:pretty(conflict.current),now:mine,label:"Your changes"})]})}function After({
id,saved,undo,close}){tick.value;let series=apis.get(id),age=Date.now()/1e3-saved.at;A2(()=>{let timer=setTimeout(close,6e4);return()=>clearTimeout(timer)},[]);
let before=mean(series,saved.at-60,saved.at),since=mean(series,saved.at+2,1/0),worse=since!=null&&since>(before??0)+.01;return a4(Note,{tone:worse?"bad":"ok",icon:worse?
"alert":"ok",actions:a4($,{children:[a4(Button,{icon:"undo",onClick:undo,children:"Undo this save"}),a4(Button,{icon:"close",kind:"quiet","aria-label":"Close",onClick:close})]}),
children:["Saved ",span(Math.max(1,age))," ago. Failed since: ",a4("b",{children:since==null?"no request yet":percent(since)}),"; in the minute before: ",before==
null?"no request":percent(before),"."]})}function mean(series,from,to){if(!series)return null;let requests=0,failed=0;return series.times.forEach((time,at)=>{time>
from&&time<=to&&(requests+=series.columns.requests[at]??0,failed+=series.columns.server_errors[at]??0)}),requests?failed/requests:null}function Keys(){return null}function KeyTable(_5){return null}var RECENT_S=30,FAILING=.01,ROWS=8;function Overview(){tick.value;let now2=now.value,{kind,words:words2}=state.value,total=totals.value;if(kind==="off")return a4(
$,{children:[a4("h1",{class:"page",children:"Overview"}),a4(Note,{tone:"warn",icon:"alert",children:a4(Text,{children:words2})})]});if(kind==="lost"&&!total.times.
length)return a4($,{children:[a4("h1",{class:"page",children:"Overview"}),a4(ErrorBox,{failure:words2,retry:()=>{start()}})]});let figure=column=>latest(total,column,
RECENT_S),requests=figure("requests"),failed=figure("server_errors"),refused=figure("refused"),share=requests?(failed??0)/requests:requests===0?0:null,idle=requests===
0?lastSeen(total):null,plots=totals.value;return a4($,{children:[a4("h1",{class:"sr",children:"Overview"}),a4(Verdict,{}),session.value?.by_secret&&session.value.
users===0&&a4(FirstUsers,{}),a4("div",{class:"figures",children:[a4(Figure,{name:"Requests",to:link(["apis"],{sort:"-rate"}),unit:"/s",note:requests===0?idle?a4(
$,{children:["last ",a4(Ago,{at:idle})]}):"none within the past hour":a4($,{children:[count(now2?.totals.in_flight??null)," in flight"]}),children:rate(requests)}),
a4(Figure,{name:"Failed",to:link(["live"],{status:"5xx"}),tone:share!=null&&share>=FAILING?"bad":void 0,note:a4($,{children:[rate(failed),"/s with 5xx or none"]}),
children:percent(share)}),a4(Figure,{name:"Refused",to:link(["live"],{status:"4xx"}),unit:"/s",tone:refused&&requests&&refused/requests>.2?"warn":void 0,note:a4(
$,{children:[percent(requests?(refused??0)/requests:requests===0?0:null)," of requests"]}),children:rate(refused)}),a4(Figure,{name:"Upstream p99",to:link(["api\
s"],{sort:"-p99"}),note:"time until its response ended",children:percentile(highest(total,"upstream_p99_us",RECENT_S),ends.value.upstream)}),a4(Figure,{name:"Ga\
teway p99",to:link(["system"]),note:"time spent in this process",children:percentile(highest(total,"gateway_p99_us",RECENT_S),ends.value.gateway)})]}),a4("div",
{class:"two",children:[a4(TrafficPlot,{series:plots}),a4(LatencyPlot,{series:plots})]}),a4("div",{class:"two wide-left",children:[a4(BusyApis,{}),a4(NeedsAttention,
{})]}),a4(Refusals,{})]})}function Figure({name,unit,note,tone,to,children}){return a4("a",{class:`figure panel ${tone??""}`,href:to,children:[a4("span",{children:name}),
a4("strong",{children:[children,unit&&a4("small",{children:unit})]}),a4("em",{children:note})]})}function Verdict(){let now2=now.value,{kind,since}=state.value;
if(kind==="lost")return a4(Line,{tone:"bad",head:`No answer from the gateway since ${clock(since/1e3,!0)}.`,rest:"What is shown is older. Traffic may still be s\
erved; this page tries again every 2 s."});if(!now2)return a4(Line,{tone:"muted",head:"Waiting for the first sample."});let trouble=now2.attention.filter(one=>one.
level==="bad"),worst=[...apis.entries()].map(([id,series])=>({id,series,requests:latest(series,"requests",RECENT_S)??0,failed:latest(series,"server_errors",RECENT_S)??
0,upstream:latest(series,"upstream_errors",RECENT_S)??0})).filter(api=>api.requests>0&&api.failed/api.requests>=FAILING).sort((a5,b3)=>b3.failed-a5.failed),first=worst[0];
if(first){let name=visible(first.series.name||first.id),from=failingSince(first.series),side=first.upstream>0||first.failed>0,more=worst.length>1?` and of ${worst.
length-1} more`:"";return a4(Line,{tone:"bad",head:a4($,{children:["Upstream of ",a4("a",{href:link(["apis",first.id]),children:name}),more," fails",from?` sinc\
e ${clock(from)}`:"","."]}),rest:`${percent(first.failed/first.requests)} of its requests. ${side?"The gateway is healthy.":""}`})}if(trouble[0])return a4(Line,
{tone:"bad",head:a4(Text,{children:sentence(trouble[0].text)}),rest:trouble.length>1?`${trouble.length-1} more below.`:""});if(now2.missing.length)return a4(Line,
{tone:"warn",head:`${now2.missing.length} of ${now2.missing.length+now2.nodes.length} gateways do not answer.`,rest:now2.missing.map(visible).join(", ")});let requests=latest(
totals.value,"requests",RECENT_S)??0,refused=latest(totals.value,"refused",RECENT_S)??0;if(requests>1&&refused/requests>.2)return a4(Line,{tone:"warn",head:`${percent(
refused/requests)} of the requests are refused.`,rest:"Gateway and upstreams are healthy; the reasons are below."});if(now2.attention[0])return a4(Line,{tone:"w\
arn",head:a4(Text,{children:sentence(now2.attention[0].text)}),rest:"Traffic is served."});if(requests===0){let last3=lastSeen(totals.value);return a4(Line,{tone:"\
ok",head:"Healthy, without traffic.",rest:last3?`The last request came at ${clock(last3,!0)}.`:"No request came within the past hour."})}return a4(Line,{tone:"o\
k",head:"Healthy.",rest:"Gateway and upstreams answer."})}var sentence=text=>`${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text)?"":"."}`;function failingSince(series){
let from=null,quiet=0;for(let at=series.times.length-1;at>=0&&quiet<5;at-=1){let requests=series.columns.requests[at]??0,failed=series.columns.server_errors[at]??
0;requests>0&&failed/requests>=FAILING?(from=series.times[at],quiet=0):requests>0&&(quiet+=1)}return from}function Line({tone,head,rest}){let change2=[...marks.
value].reverse().find(mark=>mark.kind.startsWith("config"));return a4("div",{class:`verdict ${tone}`,role:"status",children:[a4(Icon,{name:tone==="ok"?"ok":tone===
"muted"?"clock":"alert"}),a4("p",{children:[a4("strong",{children:head})," ",rest]}),change2&&a4("a",{class:"change",href:link(["system","changes"]),children:["\
Configuration of ",moment(change2.unix_s)]})]})}var hour=series=>{let last3=series.times.at(-1)??Date.now()/1e3;return[last3-SPAN_S,last3]};function TrafficPlot({
series}){let c4=series.columns,lines2=[{name:"all",values:c4.requests,color:"accent",fill:!0},{name:"failed",values:c4.server_errors,color:"bad"},{name:"refused",
values:c4.refused,color:"warn"}];return a4(Plot,{title:"Requests by result",unit:"/s",times:series.times,span:hour(series),lines:narrow.value?lines2.slice(0,1):
lines2,show:rate,marks:marks.value})}function LatencyPlot({series,side="upstream"}){let[which,set2]=d2(side),c4=series.columns,lines2=[{name:"p50",values:c4[`${which}\
_p50_us`],color:"accent"},{name:"p90",values:c4[`${which}_p90_us`],color:"violet"},{name:"p99",values:c4[`${which}_p99_us`],color:"warn"}];return a4("div",{class:"\
switched",children:[a4("div",{class:"segments",role:"group","aria-label":"Whose time",children:["upstream","gateway"].map(one=>a4("button",{type:"button","aria-\
pressed":which===one,onClick:()=>set2(one),children:one},one))}),a4(Plot,{title:"Latency",unit:`${which}, log`,log:!0,floor:which==="gateway"?10:100,times:series.
times,span:hour(series),lines:narrow.value?lines2.slice(2):lines2,show:value=>percentile(value,ends.value[which]),marks:marks.value},which)]})}function BusyApis(){
tick.value;let rows=[...apis.entries()].map(([id,series])=>({id,series,requests:latest(series,"requests",RECENT_S),failed:latest(series,"server_errors",RECENT_S),
refused:latest(series,"refused",RECENT_S),p99:highest(series,"upstream_p99_us",RECENT_S)})).filter(row=>lastSeen(row.series)!=null).sort((a5,b3)=>(b3.failed??0)-
(a5.failed??0)||(b3.requests??0)-(a5.requests??0)).slice(0,ROWS),total=now.value?.apis_total;return a4(Panel,{title:"APIs by errors, then rate",actions:a4(LinkButton,
{kind:"quiet",href:"#/apis",children:total!=null?`All ${count(total)}`:"All"}),children:rows.length===0?a4(FirstRequest,{}):a4("table",{class:"plain",children:[
a4("thead",{children:a4("tr",{children:[a4("th",{scope:"col",children:"API"}),!narrow.value&&a4("th",{scope:"col",children:"Past minutes"}),a4("th",{scope:"col",
class:"number",children:"/s"}),a4("th",{scope:"col",class:"number",children:"failed"}),a4("th",{scope:"col",class:"number",children:"refused/s"}),a4("th",{scope:"\
col",class:"number",children:"p99"})]})}),a4("tbody",{children:rows.map(({id,series,requests,failed,refused,p99})=>{let share=requests?(failed??0)/requests:requests===
0?0:null;return a4("tr",{children:[a4("th",{scope:"row",children:a4("a",{href:link(["apis",id]),children:a4(Text,{children:series.name||id})})}),!narrow.value&&
a4("td",{children:a4(Spark,{values:series.columns.requests,tone:share&&share>=FAILING?"bad":"accent"})}),a4("td",{class:"number",children:rate(requests)}),a4("t\
d",{class:`number ${share&&share>=FAILING?"bad":""}`,children:percent(share)}),a4("td",{class:"number",children:rate(refused)}),a4("td",{class:"number",children:percentile(
p99,ends.value.upstream)})]},id)})})]})})}function FirstRequest(){let[api,set2]=d2(null);return A2(()=>{get("list/apis?limit=1").then(page=>set2(page.rows[0]??!1),
()=>set2(!1))},[]),api===!1?a4(Empty,{icon:"api",title:"There is no API yet.",children:a4(LinkButton,{kind:"primary",icon:"plus",href:link(["apis"],{new:"1"}),children:"\
Make the first"})}):api?a4(Empty,{icon:"clock",title:"No request within the past hour.",children:["Send one, and it appears here: ",a4("code",{children:["curl -\
i ",location.origin,api.listen_path]})]}):a4(Empty,{icon:"clock",title:"No request within the past hour."})}function NeedsAttention(){let now2=now.value,rows=now2?.
attention??[],where=one=>one.api_id?link(["apis",one.api_id]):one.kind==="certificate"?link(["certificates"]):link(["system"]);return a4(Panel,{title:"Needs att\
ention",children:[rows.length===0?a4(Empty,{icon:"ok",title:now2?"Nothing needs attention.":"Waiting for the first sample."}):a4("ul",{class:"attention",children:rows.
slice(0,12).map((one,index)=>a4("li",{class:one.level,children:[a4(Icon,{name:"alert"}),a4("a",{href:where(one),children:[a4("b",{class:"sr",children:one.level===
"bad"?"Error: ":"Warning: "}),a4(Text,{children:one.text})]}),one.unix_s&&a4("small",{children:a4(Ago,{at:one.unix_s})})]},index))}),rows.length>12&&a4("p",{class:"\
list-end",children:[rows.length-12," more in ",a4("a",{href:"#/system",children:"System"}),"."]})]})}function Refusals(){let now2=now.value;if(!now2)return null;
let rows=Object.entries(now2.totals.refusals??{}).map(([cause,number])=>[cause,number/now2.seconds]).filter(([,rate2])=>rate2>0).sort((a5,b3)=>b3[1]-a5[1]),lost2=Object.
entries(now2.unrouted??{}).filter(([,number])=>number>0),busy=now2.core_busy.length?Math.max(...now2.core_busy):null;return a4("p",{class:"strip",children:[a4("\
span",{children:[a4("b",{children:"Refusals"})," ",rows.length?rows.slice(0,6).map(([cause,rate2])=>a4("a",{href:link(["live"],{cause}),children:[cause," ",rate(
rate2),"/s"]},cause)):"none"]}),lost2.length>0&&a4("span",{children:[a4("b",{children:"Without an API"})," ",lost2.map(([what,number])=>a4("span",{children:[what.
replace("_"," ")," ",rate(number/now2.seconds),"/s"]},what))]}),a4("span",{children:[a4("b",{children:"Connections"})," ",count(now2.connections.client)," of cl\
ients, ",count(now2.connections.upstream)," to upstreams"]}),busy!=null&&a4("span",{children:[a4("b",{children:"Busiest core"})," ",percent(busy)]})]})}function FirstUsers(){
let[gone,set2]=d2(localStorage.getItem("no-users")==="yes");return gone?null:a4(Note,{actions:a4($,{children:[a4(LinkButton,{href:link(["system","users"],{new:"\
1"}),children:"Add a user"}),a4(Button,{kind:"quiet",icon:"close","aria-label":"Not now",onClick:()=>{localStorage.setItem("no-users","yes"),set2(!0)}})]}),children:"\
You are signed in with the control secret. Named users have roles, and changes then say who made them."})}function TryIt(_5){return null}function Usage(){return null}function UsageOf(_5){return null}var TABS=[["live","Live"],["definition","Definition"],["chain","Chain"],["versions","Versions"],["keys","Keys"],["usage","Usage"]];function ApiPage(){let[,id="",
tab="live"]=route.value.parts,loaded2=useLoaded(()=>ask("GET",`apis/${segment(id)}`),[id,tab==="definition"]),[trying,setTrying]=d2(!1),[removing,setRemoving]=d2(
!1),definition=loaded2.value?.value;if(loaded2.failure&&!definition)return loaded2.failure instanceof Failure&&loaded2.failure.status===404?a4(Empty,{icon:"aler\
t",title:"There is no such API.",children:a4(LinkButton,{href:"#/apis",children:"All APIs"})}):a4(ErrorBox,{failure:loaded2.failure,retry:loaded2.again});let proxy=definition?.
proxy??{},target=proxy.enable_load_balancing&&proxy.target_list?.length?`${proxy.target_list.length} targets`:proxy.target_url,can=may("editor")&&session.value?.
writable.apis;return a4($,{children:[a4("p",{class:"crumbs",children:[a4("a",{href:"#/apis",children:"APIs"}),a4(Icon,{name:"right"}),a4("span",{children:a4(Text,
{children:id})})]}),a4("div",{class:"page-head",children:[a4("h1",{children:[a4(Text,{children:definition?.name||id}),definition&&a4("small",{class:"mono",children:[
a4(Text,{children:`${definition.domain??""}${proxy.listen_path??""}`})," ","→"," ",a4(Text,{children:target})]})]}),definition&&definition.active===!1&&a4(Badge,
{tone:"muted",children:"inactive"}),can&&a4(Button,{icon:"trash",kind:"quiet","aria-label":"Delete this API",title:"Delete this API",onClick:()=>setRemoving(!0)}),
a4(Button,{icon:"play",onClick:()=>setTrying(!0),children:"Try it"}),tab!=="definition"&&a4(LinkButton,{icon:"edit",kind:"primary","data-key":"e",href:link(["ap\
is",id,"definition"]),children:can?"Edit":"View definition"})]}),a4("nav",{class:"tabs","aria-label":"Parts of this API",children:TABS.map(([part,name])=>a4("a",
{href:link(part==="live"?["apis",id]:["apis",id,part]),"aria-current":part===tab?"page":void 0,children:name},part))}),tab==="live"&&a4(Live,{id,definition}),tab===
"definition"&&loaded2.value&&a4(Definition,{id,stored:loaded2.value,reload:loaded2.again},id),tab==="chain"&&a4(Chain,{id}),tab==="versions"&&definition&&a4(Versions,
{definition}),tab==="keys"&&a4(KeyTable,{fixed:{api:id}}),tab==="usage"&&a4(UsageOf,{api:id}),trying&&a4(TryIt,{id,definition,close:()=>setTrying(!1)}),removing&&
a4(Remove,{id,name:definition?.name||id,etag:loaded2.value?.etag??null,close:()=>setRemoving(!1)})]})}function Remove({id,name,etag,close}){let[failure,setFailure]=d2(
null),remove2=async()=>{try{await call("DELETE",`apis/${segment(id)}`,void 0,etag?{headers:{"If-Match":etag}}:{}),await get("reload?block=true"),say("ok",a4($,{
children:["API ",a4("b",{children:visible(name)})," is deleted. Its path is no longer served."]})),go("#/apis")}catch(failed){setFailure(failed)}};return a4(Dialog,
{title:"Delete this API?",close,footer:a4($,{children:[a4(Button,{onClick:close,children:"Keep it"}),a4(Button,{kind:"danger",onClick:()=>{remove2()},children:"\
Delete"})]}),children:[a4("p",{children:["The definition of ",a4("b",{children:a4(Text,{children:name})})," is removed. Requests to its path get 404 from then o\
n. Keys keep their other rights."]}),failure?a4(ErrorBox,{failure}):null]})}function Live({id,definition}){tick.value;let series=apis.get(id),past=useLoaded(()=>apis.
has(id)?Promise.resolve(null):get(`history${query({api:id,nodes:"all"})}`,{byItself:!0}),[id]),detail=useLoaded(()=>get(`live${query({api:id})}`,{byItself:!0}),
[id,Math.floor(tick.value/5)]);if(past.failure&&!series)return a4(Note,{tone:"warn",icon:"alert",children:a4(Text,{children:past.failure.message})});if(!series)
return a4($,{children:[a4(Empty,{icon:"clock",title:"No request within the past hour.",children:["Send one, and it appears here: ",a4("code",{children:["curl -i\
 ",location.origin,definition?.proxy?.listen_path??"/"]})]}),a4(Targets,{detail:detail.value,id})]});let figure=column=>latest(series,column,30),requests=figure(
"requests"),failed=figure("server_errors"),timeouts=figure("timeouts"),share=requests?(failed??0)/requests:requests===0?0:null,breakers=(detail.value?.breakers??
[]).filter(one=>one.api_id===id),open=breakers.filter(one=>one.open),now2=now.value;return a4($,{children:[a4("div",{class:"figures",children:[a4("span",{class:"\
figure panel",children:[a4("span",{children:"Requests"}),a4("strong",{children:[rate(requests),a4("small",{children:"/s"})]}),a4("em",{children:[count(Math.round(
figure("in_flight")??0))," in flight"]})]}),a4("span",{class:`figure panel ${share&&share>=.01?"bad":""}`,children:[a4("span",{children:"Failed"}),a4("strong",{
children:percent(share)}),a4("em",{children:["timeouts ",rate(timeouts),"/s"]})]}),a4("span",{class:"figure panel",children:[a4("span",{children:"Refused"}),a4(
"strong",{children:[rate(figure("refused")),a4("small",{children:"/s"})]}),a4("em",{children:a4("a",{href:link(["live"],{api:id}),children:"why"})})]}),a4("span",
{class:"figure panel",children:[a4("span",{children:"Upstream p99"}),a4("strong",{children:percentile(highest(series,"upstream_p99_us",30),ends.value.upstream)}),
a4("em",{children:["p50 ",percentile(highest(series,"upstream_p50_us",30),ends.value.upstream)]})]}),a4("span",{class:`figure panel ${open.length?"bad":""}`,children:[
a4("span",{children:"Circuit breakers"}),a4("strong",{children:open.length?"open":breakers.length?"closed":"none"}),a4("em",{children:open[0]?a4(Text,{children:open[0].
endpoint}):now2?`served by ${now2.nodes.length}/${now2.nodes.length+now2.missing.length}`:""})]})]}),a4("div",{class:"two",children:[a4(TrafficPlot,{series}),a4(
LatencyPlot,{series})]}),a4("div",{class:"two",children:[a4(Targets,{detail:detail.value,id}),a4(Plot,{title:"Transferred",unit:"B/s",times:series.times,span:hour(
series),lines:[{name:"in",values:series.columns.request_bytes,color:"teal"},{name:"out",values:series.columns.response_bytes,color:"accent"}],show:value=>value==
null?UNKNOWN:`${bytes(value)}/s`})]}),a4(Refusals2,{detail:detail.value,id})]})}function Targets({detail,id}){let targets=detail?.apis?.find(one=>one.api_id===id)?.
targets??[];return a4(Panel,{title:"Upstream targets",children:targets.length===0?a4("div",{class:"empty small",children:"No request went to a target since the \
start."}):a4("table",{class:"plain",children:[a4("thead",{children:a4("tr",{children:[a4("th",{scope:"col",children:"Target"}),a4("th",{scope:"col",class:"numbe\
r",children:"Requests"}),a4("th",{scope:"col",class:"number",children:"Errors"}),a4("th",{scope:"col",children:"Last error"})]})}),a4("tbody",{children:targets.
map(one=>a4("tr",{children:[a4("th",{scope:"row",children:a4(Text,{mono:!0,children:one.target})}),a4("td",{class:"number",children:count(one.requests)}),a4("td",
{class:`number ${one.errors?"bad":""}`,children:count(one.errors)}),a4("td",{children:one.last_error?a4($,{children:[a4(Text,{children:one.last_error})," ",a4("\
small",{children:a4(Ago,{at:one.last_error_unix_s})})]}):"none"})]},one.target))})]})})}function Refusals2({detail,id}){let one=detail?.apis?.find(api=>api.api_id===
id),causes=Object.entries({...one?.refusals,...one?.upstream_errors}).filter(([,number])=>number>0).sort((a5,b3)=>b3[1]-a5[1]);return causes.length?a4("p",{class:"\
strip",children:a4("span",{children:[a4("b",{children:"Since the start"})," ",causes.map(([cause,number])=>a4("a",{href:link(["live"],{api:id,cause}),children:[
cause," ",count(number)]},cause))]})}):null}function Chain({id}){let chain=useLoaded(()=>get(`apis/${segment(id)}/chain`),[id]),detail=useLoaded(()=>get(`live${query(
{api:id})}`,{byItself:!0}),[id]),cost=new Map((detail.value?.middlewares??[]).map(one=>[one.middleware,one]));if(chain.failure)return a4(ErrorBox,{failure:chain.
failure,retry:chain.again});let steps2=chain.value?.middlewares??[],sum=steps2.reduce((all,step)=>all+(cost.get(step.name)?.mean_ns??0),0);return a4(Panel,{title:"\
Chain",note:sum?`~${duration(sum/1e3)} per request, mean of samples of all APIs`:"in the order in which requests pass it",children:steps2.length===0?a4("div",{class:"\
empty small",children:chain.value?"No middleware: requests go straight to the upstream.":"Loading"}):a4("table",{class:"plain",children:[a4("thead",{children:a4(
"tr",{children:[a4("th",{scope:"col",children:"Middleware"}),a4("th",{scope:"col",class:"number",children:"Mean"}),a4("th",{scope:"col",children:"Share"}),a4("t\
h",{scope:"col",class:"number",children:"Samples"})]})}),a4("tbody",{children:steps2.map((step,at)=>{let one=cost.get(step.name);return a4("tr",{children:[a4("t\
h",{scope:"row",children:[a4("small",{children:at+1})," ",step.name]}),a4("td",{class:"number",children:one?.samples?duration(one.mean_ns/1e3):UNKNOWN}),a4("td",
{children:[one&&sum?a4("span",{class:"share","aria-hidden":"true",children:a4("span",{style:{width:`${100*one.mean_ns/sum}%`}})}):null,one&&sum?percent(one.mean_ns/
sum):""]}),a4("td",{class:"number",children:count(one?.samples)})]},step.name)})})]})})}function Versions({definition}){let versions=Object.entries(definition.version_data?.
versions??{}),single=definition.version_data?.not_versioned;return a4(Panel,{title:single?"Not versioned":`${versions.length} versions`,note:single?"all request\
s use this one":`named by ${definition.definition?.location??"header"} ${definition.definition?.key??""}`,children:a4("table",{class:"plain",children:[a4("thead",
{children:a4("tr",{children:[a4("th",{scope:"col",children:"Version"}),a4("th",{scope:"col",children:"Expires"}),a4("th",{scope:"col",children:"Target"}),a4("th",
{scope:"col",children:"Rules by path"})]})}),a4("tbody",{children:versions.map(([name,version])=>a4("tr",{children:[a4("th",{scope:"row",children:a4(Text,{children:name})}),
a4("td",{children:version.expires||"never"}),a4("td",{children:version.override_target?a4(Text,{mono:!0,children:version.override_target}):"the API's"}),a4("td",
{children:Object.entries(version.extended_paths??{}).filter(([,list])=>Array.isArray(list)&&list.length).map(([kind,list])=>a4(Badge,{tone:"muted",children:[kind,
" ",list.length]},kind))})]},name))})]})})}var PAGE_ROWS=100,ROWS_MAX=2e4,MARGIN_ROWS=12;function useList(what,members){let[state2,set2]=d2({rows:[],next:"",total:null,scanned:0,done:!1,failure:null,waiting:!1,
fetched:null}),[turn,again]=d2(0),asked=JSON.stringify([what,members]),busy=T2(null),fetchPage=async(after,before)=>{busy.current?.abort();let control=busy.current=
new AbortController,slow=setTimeout(()=>set2(old=>({...old,waiting:!0})),300);try{let page,rows=before,scanned=0,next=after;do page=what==="keys"&&members.q?await call(
"POST","list/keys",{...members,limit:PAGE_ROWS,after:next||void 0},{signal:control.signal}):await get(`list/${what}${query({...members,limit:PAGE_ROWS,after:next})}`,
{signal:control.signal}),rows=[...rows,...page.rows],scanned+=page.scanned??0,next=page.next;while(next&&rows.length===before.length&&!control.signal.aborted);if(control.
signal.aborted)return;set2({rows,next,total:page.total,scanned,done:!next||rows.length>=ROWS_MAX,failure:null,waiting:!1,fetched:Date.now()/1e3})}catch(failure){
control.signal.aborted||set2(old=>({...old,failure,waiting:!1}))}finally{clearTimeout(slow),busy.current===control&&(busy.current=null)}};return A2(()=>{let timer=setTimeout(
()=>{fetchPage("",[])},turn||!members.q?0:150);return()=>{clearTimeout(timer),busy.current?.abort(),busy.current=null}},[asked,turn]),{...state2,more:()=>{!busy.
current&&state2.next&&!state2.done&&fetchPage(state2.next,state2.rows)},reload:()=>again(old=>old+1)}}function Table({label,columns:all,list,id,open,href,empty:empty2,
order,selected,select,tone}){let columns=all.filter(column=>!column.hidden),body=T2(null),[range,setRange]=d2([0,60]),[at,setAt]=d2(-1),rowPixels=narrow.value?108:
34,{rows}=list,windowed=rows.length>150;A2(()=>{let look=()=>{let top=body.current?.getBoundingClientRect().top??0,first=Math.max(0,Math.floor(-top/rowPixels)-MARGIN_ROWS),
last3=first+Math.ceil(innerHeight/rowPixels)+2*MARGIN_ROWS;setRange(old=>Math.abs(old[0]-first)<MARGIN_ROWS/2&&Math.abs(old[1]-last3)<MARGIN_ROWS/2?old:[first,last3]),
last3>rows.length-30&&list.more()};return look(),addEventListener("scroll",look,{passive:!0}),addEventListener("resize",look),()=>{removeEventListener("scroll",
look),removeEventListener("resize",look)}},[rows.length,rowPixels,list.done]),A2(()=>{let move=event=>{if(event.defaultPrevented||event.typing||!lettersOn(event))
return;let step=event.key==="j"?1:event.key==="k"?-1:0;if(step){let next=Math.max(0,Math.min(rows.length-1,at+step));setAt(next),requestAnimationFrame(()=>{let row=body.
current?.querySelector(`[aria-rowindex="${next+2}"]`);row?.focus({preventScroll:!0}),row?.scrollIntoView({block:"nearest"})}),event.preventDefault()}};return addEventListener(
"keydown",move),()=>removeEventListener("keydown",move)},[rows,at]);let sort=column=>{if(!column.sort)return;let now2=route.value.query.get("sort")??order;refine(
{sort:now2===column.sort?`-${column.sort}`:now2===`-${column.sort}`?column.sort:column.number?`-${column.sort}`:column.sort})},sorted=route.value.query.get("sor\
t")??order??"",[from,to]=windowed?[Math.min(range[0],rows.length),Math.min(range[1],rows.length)]:[0,rows.length],enter2=row=>{if(open)open(row);else{let to2=href?.(
row);to2&&(location.hash=to2)}},shown2=w2(()=>rows.slice(from,to),[rows,from,to]),everything=!!select&&rows.length>0&&rows.every(row=>selected?.has(id(row)));return list.
failure&&!rows.length?a4(ErrorBox,{failure:list.failure,retry:list.reload}):list.done&&!rows.length?a4($,{children:empty2}):a4($,{children:[a4(Waiting,{on:list.
waiting}),list.failure?a4(ErrorBox,{failure:list.failure,retry:list.reload,since:list.fetched??void 0}):null,a4("table",{class:"list",role:"table","aria-label":label,
"aria-rowcount":(list.total??rows.length)+1,ref:body,children:[a4("thead",{role:"rowgroup",children:a4("tr",{role:"row","aria-rowindex":1,children:[select&&a4("\
th",{role:"columnheader",class:"check",children:a4("input",{type:"checkbox","aria-label":"Select all that are shown",checked:everything,onChange:()=>select(everything?
new Set:new Set(rows.map(id)))})}),columns.map(column=>a4("th",{role:"columnheader",scope:"col",class:`${column.number?"number":""} ${column.grow?"grow":""}`,"a\
ria-sort":column.sort?sorted===column.sort?"ascending":sorted===`-${column.sort}`?"descending":"none":void 0,children:column.sort?a4("button",{type:"button",onClick:()=>sort(
column),children:[column.name,sorted.replace("-","")===column.sort&&a4(Icon,{name:sorted.startsWith("-")?"down":"up"})]}):column.name},column.id))]})}),a4("tbod\
y",{role:"rowgroup",children:[from>0&&a4("tr",{role:"presentation",class:"space",children:a4("td",{role:"presentation",style:{height:`${from*rowPixels}px`}})}),
shown2.map((row,index)=>{let name=id(row);return a4("tr",{role:"row","aria-rowindex":from+index+2,tabIndex:-1,class:`${tone?.(row)??""} ${selected?.has(name)?"s\
elected":""} ${open||href?"opens":""}`,onFocus:()=>setAt(from+index),onKeyDown:event=>{event.key==="Enter"&&event.target===event.currentTarget&&enter2(row)},onClick:event=>{
!event.target.closest("a,button,input,label")&&!String(getSelection())&&enter2(row)},children:[select&&a4("td",{role:"cell",class:"check",children:a4("input",{type:"\
checkbox","aria-label":`Select ${name}`,checked:selected?.has(name)??!1,onChange:()=>{let next=new Set(selected);next.delete(name)||next.add(name),select(next)}})}),
columns.map(column=>a4("td",{role:"cell","data-name":column.name,class:`${column.number?"number":""} ${column.grow?"grow":""}`,children:column.show(row)},column.
id))]},name)}),to<rows.length&&a4("tr",{role:"presentation",class:"space",children:a4("td",{role:"presentation",style:{height:`${(rows.length-to)*rowPixels}px`}})})]})]}),
rows.length>0&&a4("p",{class:"list-end",children:list.done?rows.length>=ROWS_MAX?`The first ${count(rows.length)} are shown; search for others.`:`${count(rows.length)}\
 shown${list.total!=null&&list.total!==rows.length?` of ${count(list.total)}`:""}.`:a4($,{children:[count(rows.length)," loaded",list.total!=null?` of ${count(list.
total)}`:"",". ",a4(Button,{kind:"quiet",onClick:list.more,children:"Load more"})]})})]})}function lettersOn(event){let target=event.composedPath()[0];return!(target instanceof HTMLElement&&(target.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.test(
target.tagName)&&target.type!=="checkbox"))&&!event.ctrlKey&&!event.metaKey&&!event.altKey&&!document.querySelector("dialog[open]")&&localStorage.getItem("lette\
rs")!=="off"}function Filter({placeholder,label}){let q2=route.value.query.get("q")??"",[text,set2]=d2(q2);return A2(()=>set2(q2),[q2]),a4("label",{class:"filte\
r",children:[a4(Icon,{name:"search"}),a4("input",{type:"search","aria-label":label,placeholder,value:text,autocomplete:"off",spellcheck:!1,onInput:event=>{set2(
event.currentTarget.value),refine({q:event.currentTarget.value||void 0})}})]})}function Apis(){let q2=route.value.query,list=useList("apis",{q:q2.get("q")??void 0,sort:q2.get("sort")??"name"}),writable=session.value?.writable.apis??!1,can=may(
"editor")&&writable,fresh=a4(Button,{icon:"plus",kind:"primary","data-key":"n",onClick:()=>refine({new:"1"}),children:"New API"});return a4($,{children:[a4("div",
{class:"page-head",children:[a4("h1",{children:["APIs",list.total!=null&&a4("small",{children:count(list.total)})]}),a4(Filter,{label:"Filter APIs",placeholder:"\
Name, path, host, target, tag"}),can&&fresh]}),!can&&a4("p",{class:"list-end",children:may("editor")?"Definitions cannot be written here: they come from a read-\
only place. They can be viewed and copied.":"Your role can view definitions, not change them."}),a4(Table,{label:"APIs",list,id:row=>row.id,href:row=>link(["api\
s",row.id]),order:"name",empty:q2.get("q")?a4(Empty,{icon:"search",title:"No API matches.",children:a4(Button,{onClick:()=>refine({q:void 0}),children:"Clear th\
e filter"})}):a4(Empty,{icon:"api",title:"There is no API yet.",children:["An API says which requests go to which upstream.",a4("br",{}),can&&fresh]}),columns:[
{id:"name",name:"Name",sort:"name",grow:!0,show:row=>a4("a",{href:link(["apis",row.id]),children:a4(Text,{children:row.name||row.id})})},{id:"state",name:"State",
show:row=>row.problems>0?a4(Badge,{tone:"warn",children:[row.problems," ",row.problems===1?"problem":"problems"]}):row.active?a4(Badge,{tone:"ok",children:"acti\
ve"}):a4(Badge,{tone:"muted",children:"inactive"})},{id:"path",name:"Listen path",sort:"listen_path",show:row=>a4(Text,{mono:!0,children:`${row.host??""}${row.listen_path}`})},
{id:"auth",name:"Auth",show:row=>row.auth.join(", ")},{id:"trend",name:"Past minutes",show:row=>{tick.value;let series=apis.get(row.id);return series?a4(Spark,{
values:series.columns.requests}):null}},{id:"rate",name:"/s",sort:"rate",number:!0,show:row=>rate(row.rate)},{id:"error_rate",name:"Failed",sort:"error_rate",number:!0,
show:row=>a4("span",{class:row.error_share&&row.error_share>=.01?"bad":"",children:percent(row.error_share)})},{id:"p99",name:"p99",sort:"p99",number:!0,show:row=>percentile(
row.p99_ms==null?null:row.p99_ms*1e3,ends.value.upstream)},{id:"last",name:"Last request",sort:"last_request",number:!0,show:row=>a4(Ago,{at:row.last_request})}]}),
q2.get("new")&&can&&a4(NewApi,{close:()=>refine({new:void 0})})]})}function NewApi({close}){let[name,setName]=d2(""),[path,setPath]=d2(null),[target,setTarget]=d2(
""),[auth,setAuth]=d2("token"),[failure,setFailure]=d2(null),[problems,setProblems]=d2([]),[busy,setBusy]=d2(!1),plain=name.toLowerCase().replace(/[^a-z0-9]+/g,
"-").replace(/^-|-$/g,""),listen=path??(plain?`/${plain}/`:""),save=async event=>{event.preventDefault(),setBusy(!0),setFailure(null);let id=plain||`api-${Date.
now().toString(36)}`,definition={name,api_id:id,org_id:"default",active:!0,use_keyless:auth==="keyless",...auth==="token"?{auth:{auth_header_name:"Authorization"}}:
{},...auth==="basic"?{use_basic_auth:!0}:{},version_data:{not_versioned:!0,versions:{Default:{name:"Default",use_extended_paths:!0}}},proxy:{listen_path:listen,
target_url:target,strip_listen_path:!0}};try{let check=await call("POST","check/api",definition).catch(failed=>{if(failed instanceof Failure&&failed.status===404)
return{ok:!0,problems:[]};throw failed});if(setProblems(check.problems),!check.ok)return;await call("POST","apis",definition,{headers:{"If-None-Match":"*"}}),await call(
"GET","reload?block=true"),say("ok",a4($,{children:["API ",a4("b",{children:visible(name)})," serves ",visible(listen),". ",a4("a",{href:link(["keys"],{new:"1",
api:id}),children:"Make a key for it"})]})),go(link(["apis",id]))}catch(failed){setFailure(failed)}finally{setBusy(!1)}},at=part=>problems.find(one=>one.path.includes(
part))?.message;return a4(Dialog,{title:"New API",close,children:a4("form",{id:"new-api",class:"form",onSubmit:save,children:[failure?a4("div",{class:"field wid\
e",children:a4(ErrorBox,{failure})}):null,a4(Field,{label:"Name",error:at("name"),wide:!0,children:a4("input",{autofocus:!0,required:!0,maxLength:200,value:name,
onInput:event=>setName(event.currentTarget.value),placeholder:"Shop"})}),a4(Field,{label:"Listen path",error:at("listen_path"),hint:"Requests below this path ar\
e this API's.",children:a4("input",{required:!0,class:"mono",value:listen,onInput:event=>setPath(event.currentTarget.value),placeholder:"/shop/"})}),a4(Field,{label:"\
Upstream",error:at("target_url"),hint:"The listen path is removed before.",children:a4("input",{required:!0,type:"text",class:"mono",value:target,onInput:event=>setTarget(
event.currentTarget.value),placeholder:"http://127.0.0.1:9090/"})}),a4(Field,{label:"Who may call",wide:!0,hint:auth==="keyless"?"Everybody who reaches the gate\
way.":auth==="token"?"Callers send a key in the header Authorization.":"Callers send a name and a password.",children:a4("select",{value:auth,onChange:event=>setAuth(
event.currentTarget.value),children:[a4("option",{value:"token",children:"Callers with a key"}),a4("option",{value:"basic",children:"Users with a password"}),a4(
"option",{value:"keyless",children:"Everybody"})]})}),problems.filter(one=>one.level==="error"&&!/name|listen_path|target_url/.test(one.path)).map(one=>a4(Note,
{tone:"bad",icon:"alert",children:[a4("code",{children:one.path})," ",one.message]},one.path)),a4("div",{class:"row",style:{gridColumn:"1 / -1",justifyContent:"\
flex-end"},children:[a4(Button,{onClick:close,children:"Cancel"}),a4(Button,{kind:"primary",type:"submit",disabled:busy,children:"Make the API"})]})]})})}function Certificates(){return null}function Clients(){return null}function KeyPage(){return null}function Policies(){return null}function System(){return null}function Tail(){return null}var EACH=5,KINDS=[{what:"apis",icon:"api",kind:"API",show:row=>({name:row.name||row.id,note:`${row.listen_path} -> ${row.target}`,to:link(["apis",row.id])})},{what:"\
keys",icon:"key",kind:"Key",show:row=>({name:row.alias||row.id,note:[row.id,row.state!=="active"&&row.state].filter(Boolean).join(", "),to:link(["keys",row.id])})},
{what:"policies",icon:"policy",kind:"Policy",show:row=>({name:row.name||row.id,note:row.id,to:link(["policies"],{open:row.id})})},{what:"clients",icon:"client",
kind:"Client",show:row=>({name:row.id,note:row.description||row.api_id,to:link(["clients"],{q:row.id})})},{what:"certs",icon:"certificate",kind:"Certificate",show:row=>({
name:row.names?.[0]??row.subject,note:row.subject,to:link(["certificates"],{q:row.subject})})}];function Search({close}){let[text,setText]=d2(""),[found,setFound]=d2(
null),[at,setAt]=d2(0),input=T2(null);A2(()=>{input.current?.focus()},[]),A2(()=>{let q2=text.trim();if(!q2){setFound(null);return}let control=new AbortController,
timer=setTimeout(async()=>{let answers=await Promise.all(KINDS.map(async({what,icon,kind,show})=>{try{return(what==="keys"?await call("POST","list/keys",{q:q2,limit:EACH},
{signal:control.signal}):await get(`list/${what}${query({q:q2,limit:EACH})}`,{signal:control.signal})).rows.slice(0,EACH).map(row=>({icon,kind,...show(row)}))}catch{
return[]}}));if(control.signal.aborted)return;let tail=[{icon:"tail",kind:"Live tail",name:`Refusals and errors of "${q2}"`,note:"by request id, path, key or ad\
dress",to:link(["live"],{q:q2})}];setFound([...answers.flat(),...tail]),setAt(0)},150);return()=>{clearTimeout(timer),control.abort()}},[text]);let open=one=>{one&&
(close(),go(one.to))};return a4(Dialog,{title:"Search",close,children:a4("div",{class:"search",onKeyDown:event=>{let step=event.key==="ArrowDown"?1:event.key===
"ArrowUp"?-1:0;step&&found&&(event.preventDefault(),setAt((at+step+found.length)%found.length)),event.key==="Enter"&&(event.preventDefault(),open(found?.[at]))},
children:[a4("input",{ref:input,type:"search","aria-label":"Search",role:"combobox","aria-expanded":!!found,"aria-controls":"found","aria-activedescendant":found?
`found-${at}`:void 0,placeholder:"API, path, key, alias, policy, certificate, request id",autocomplete:"off",spellcheck:!1,value:text,onInput:event=>setText(event.
currentTarget.value)}),a4("ul",{id:"found",role:"listbox","aria-label":"Results",children:found?.map((one,index)=>a4("li",{id:`found-${index}`,role:"option","ar\
ia-selected":index===at,class:index===at?"at":"",onMouseMove:()=>setAt(index),onClick:()=>open(one),children:[a4(Icon,{name:one.icon}),a4("span",{children:[a4("\
bdi",{children:visible(one.name)}),a4("small",{children:a4("bdi",{children:visible(one.note)})})]}),a4("em",{children:one.kind})]},one.to+index))})]})})}var PLACES=[{id:"overview",name:"Overview",icon:"overview",key:"o",page:Overview},{id:"apis",name:"APIs",icon:"api",key:"a",page:Apis,one:ApiPage},{id:"keys",name:"\
Keys",icon:"key",key:"k",page:Keys,one:KeyPage},{id:"policies",name:"Policies",icon:"policy",key:"p",page:Policies},{id:"clients",name:"OAuth clients",icon:"cli\
ent",key:"c",page:Clients},{id:"certificates",name:"Certificates",icon:"certificate",key:"e",page:Certificates},{id:"usage",name:"Usage",icon:"usage",key:"u",page:Usage},
{id:"live",name:"Live tail",icon:"tail",key:"l",page:Tail},{id:"system",name:"System",icon:"system",key:"s",page:System}];function Shell(){let[menu,setMenu]=d2(
!1),[search,setSearch]=d2(!1),[help,setHelp]=d2(!1),{parts:parts2}=route.value,place2=PLACES.find(one=>one.id===(parts2[0]??"overview"));A2(()=>{document.title=
`${parts2[1]?`${visible(parts2[1])} - `:""}${place2?.name??"Not found"} - Tollgate`,setMenu(!1)},[route.value]),useKeys({search:()=>setSearch(!0),help:()=>setHelp(
!0)});let Page=place2?parts2[1]&&place2.one||place2.page:null;return a4("div",{class:`shell ${menu?"with-menu":""}`,children:[a4("a",{class:"skip",href:"#conten\
t",onClick:event=>{event.preventDefault(),document.getElementById("content")?.focus()},children:"Skip to the content"}),a4("nav",{"aria-label":"Pages",children:[
a4("a",{class:"brand",href:"#/",children:[a4(Logo,{}),"Tollgate"]}),a4("ul",{children:PLACES.map(one=>a4("li",{children:a4("a",{href:`#/${one.id==="overview"?"":
one.id}`,"aria-current":place2===one?"page":void 0,onClick:()=>setMenu(!1),children:[a4(Icon,{name:one.icon}),one.name]})},one.id))}),a4("div",{class:"who",children:[
a4("span",{class:"user",title:session.value?.by_secret?"Signed in with the control secret":`Role: ${session.value?.role}`,children:[a4(Icon,{name:"client"}),a4(
"span",{children:[a4("bdi",{children:session.value?.by_secret?"control secret":visible(session.value?.user)}),a4("small",{children:session.value?.role})]})]}),a4(
Button,{icon:"out",kind:"quiet","aria-label":"Sign out",title:"Sign out",onClick:()=>{signOut()}})]})]}),menu&&a4("div",{class:"veil",onClick:()=>setMenu(!1)}),
a4("header",{class:"top",children:[narrow.value&&a4(Button,{icon:"menu",kind:"quiet","aria-label":"Menu","aria-expanded":menu,onClick:()=>setMenu(!menu)}),a4("b\
utton",{type:"button",class:"search-box","aria-label":"Search everything",onClick:()=>setSearch(!0),children:[a4(Icon,{name:"search"}),a4("span",{children:"Sear\
ch"}),a4("kbd",{children:"/"})]}),a4(Connection,{}),a4(Clock,{}),a4(Button,{icon:dark.value?"sun":"moon",kind:"quiet","aria-label":dark.value?"Light theme":"Dar\
k theme",title:dark.value?"Light theme":"Dark theme",onClick:()=>{theme.value=dark.value?"light":"dark"}}),!narrow.value&&a4(Button,{kind:"quiet",class:"help","\
aria-label":"Keyboard keys",title:"Keyboard keys (?)",onClick:()=>setHelp(!0),children:"?"})]}),a4("main",{id:"content",tabIndex:-1,children:Page?a4(Page,{},parts2.
slice(0,2).join("/")):a4(Empty,{icon:"alert",title:"There is no such page.",children:a4(LinkButton,{href:"#/",children:"Overview"})})}),search&&a4(Search,{close:()=>setSearch(
!1)}),help&&a4(Help,{close:()=>setHelp(!1)})]})}function Connection(){let{kind,words:words2,since}=state.value,now2=now.value;if(kind==="lost")return a4("span",
{class:"connection bad",role:"status",title:words2,children:[a4("i",{}),"No answer since ",clock(since/1e3,!0)]});if(kind==="off")return a4("span",{class:"conne\
ction muted",title:words2,children:[a4("i",{}),"No live figures"]});let nodes2=now2?.nodes.length??1,missing=now2?.missing.length??0;return a4("a",{class:`conne\
ction ${missing?"warn":kind==="live"?"ok":"muted"}`,href:"#/system",title:now2?.nodes.join(", "),children:[a4("i",{}),nodes2===1&&!missing?visible(now2?.node??session.
value?.node):`${nodes2} gateways`,missing>0&&`, ${missing} silent`]})}function Clock(){let[,again]=d2(0);A2(()=>{let timer=setInterval(()=>again(turn=>turn+1),5e3);
return()=>clearInterval(timer)},[]);let now2=Date.now()/1e3;return a4("button",{type:"button",class:"clock",title:"Switch between local time and UTC",onClick:()=>{
utc.value=!utc.value},children:[a4("time",{children:clock(now2)})," ",a4("small",{children:offset(now2)})]})}function useKeys(does){A2(()=>{let went=0,press=event=>{
if((event.ctrlKey||event.metaKey)&&event.key.toLowerCase()==="k"){event.preventDefault(),does.search();return}if(event.ctrlKey||event.metaKey||event.altKey||document.
querySelector("dialog[open]"))return;let target=event.composedPath()[0];if(target instanceof HTMLElement&&(target.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.
test(target.tagName)&&!["checkbox","radio"].includes(target.type))){event.key==="Escape"&&target.blur();return}if(localStorage.getItem("letters")!=="off"){if(event.
timeStamp-went<1500){went=0;let place2=PLACES.find(one=>one.key===event.key);if(place2){event.preventDefault(),go(place2.id==="overview"?"#/":link([place2.id]));
return}}if(event.key==="g")went=event.timeStamp;else if(event.key==="/")event.preventDefault(),does.search();else if(event.key==="?")event.preventDefault(),does.
help();else if(event.key==="e")document.querySelector("[data-key=e]")?.click();else if(event.key==="n")document.querySelector("[data-key=n]")?.click();else if(event.
key==="Escape"){let{parts:parts2}=route.peek();parts2.length>1&&go(link([parts2[0]]))}}};return addEventListener("keydown",press),()=>removeEventListener("keydo\
wn",press)},[])}var KEYS=[["/ or Ctrl-K","Search everything"],["g then o a k p c e u l s","Go to Overview, APIs, Keys, Policies, Clients, Certificates, Usage, L\
ive tail, System"],["j, k","Next, previous row"],["Enter","Open the row"],["e","Edit"],["n","New"],["Esc","Close, back to the list"],["?","This list"]];function Help({
close}){let[on2,set2]=d2(localStorage.getItem("letters")!=="off");return a4(Dialog,{title:"Keys",close,children:[a4("dl",{class:"keys",children:KEYS.map(([keys,
does])=>a4($,{children:[a4("dt",{children:a4("kbd",{children:keys})}),a4("dd",{children:does})]}))}),a4("label",{class:"choice",children:[a4("input",{type:"chec\
kbox",checked:on2,onChange:()=>{localStorage.setItem("letters",on2?"off":"on"),set2(!on2)}})," Single letters act"]})]})}function App(){A2(()=>{load()},[]);let inside=session.value&&!ended.value;return A2(()=>{if(!inside){stop(),ended.value&&load();return}start()},[inside]),inside?
a4($,{children:[a4(Shell,{}),a4(Toasts,{})]}):door.value||silent.value||ended.value?a4(SignIn,{}):null}var root=document.getElementById("app");root&&Q(a4(App,{}),
root);
